/** Work that ends with a result and is done in steps, each of some milliseconds at most: whoever does it may serve others in between. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Values of a body that one step looks at: one or two milliseconds. */
export const stepValues = 10_000;
