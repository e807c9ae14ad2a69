/**
 * Work that ends with a result and is done in steps of some milliseconds: whoever does it may serve others in between.
 * What the engine does in one piece is one step: parsing 1 MB of short values takes 20 ms and more, and so does taking
 * the values of one object with 80,000 fields.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Does work of an account: where it is more than one step, when its turn has come. */
export type InTurn = <T>(account: number, steps: Steps<T>) => Promise<T>;

/** Values of a body that one step looks at: one or two milliseconds. */
export const stepValues = 10_000;

/** The result of work, all steps at once. */
export function whole<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
