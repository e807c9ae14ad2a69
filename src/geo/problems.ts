/** More are not listed one by one: nobody reads on, and an answer has its limits. */
const mostListed = 20;

/** Collects what is wrong, each with its place as a JSON Pointer, and tells how much it left out. */
export class Problems {
  readonly #listed: string[] = [];
  #count = 0;

  /** Example: `add("/geometry/coordinates/0", "is not closed")`. */
  add(place: string, problem: string): void {
    this.#count++;
    if (this.#listed.length < mostListed) this.#listed.push(`${place}: ${problem}`);
  }

  get any(): boolean {
    return this.#count > 0;
  }

  list(): readonly string[] {
    if (this.#count <= mostListed) return this.#listed;
    const shown = mostListed - 1;
    return [...this.#listed.slice(0, shown), `and ${this.#count - shown} more`];
  }
}
