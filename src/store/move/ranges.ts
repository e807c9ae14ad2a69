/** Gathers what differs in a table: neighbours that differ in the same way are told as one. */
export class Ranges {
  readonly #table: string;
  readonly #texts: string[] = [];
  #what = "";
  #first = 0n;
  #last = 0n;
  #count = 0;

  constructor(table: string) {
    this.#table = table;
  }

  /** `number`: of the rows. Undefined: of the whole table. */
  add(number: bigint | undefined, what: string): void {
    if (number === undefined) {
      this.#texts.push(`the table ${this.#table}: ${what}`);
      return;
    }
    if (this.#count > 0 && this.#what === what) {
      this.#last = number;
      this.#count++;
      return;
    }
    this.#end();
    [this.#what, this.#first, this.#last, this.#count] = [what, number, number, 1];
  }

  texts(): readonly string[] {
    this.#end();
    return this.#texts;
  }

  #end(): void {
    if (this.#count === 0) return;
    const place = this.#count === 1 ? `row ${this.#first}` : `${this.#count} rows from ${this.#first} to ${this.#last}`;
    this.#texts.push(`${place} of the table ${this.#table}: ${this.#what}`);
    this.#count = 0;
  }
}
