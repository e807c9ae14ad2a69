/** Counts what happened by what it was. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(what: string | number, times = 1): void {
    this.#counts.set(String(what), (this.#counts.get(String(what)) ?? 0) + times);
  }

  of(what: string | number): number {
    return this.#counts.get(String(what)) ?? 0;
  }

  clear(): void {
    this.#counts.clear();
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Those that are none of these. */
  besides(...known: readonly (string | number)[]): readonly string[] {
    return [...this.#counts.keys()].filter((what) => !known.map(String).includes(what));
  }

  /** `201 × 1,200, 409 × 3`; a status 0 is a connection that was closed. */
  toString(): string {
    if (this.#counts.size === 0) return "nothing";
    return [...this.#counts]
      .map(([what, count]) => `${what === "0" ? "closed" : what} × ${count.toLocaleString("en")}`)
      .join(", ");
  }
}

export const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Does something a number of times, some at a time, as long as `goesOn`. Gives how many were done. */
export async function many(
  count: number,
  atOnce: number,
  goesOn: () => boolean,
  one: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const worker = async () => {
    while (next < count && goesOn()) await one(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return next;
}
