import type { ByteSink } from "../sink.ts";
import { BlockDamaged, type BodyReader, putSized, putVarint } from "./bytes.ts";
import { putNumbers, readConstant, readNumbers } from "./numbers.ts";

/*
 * A column of texts: the number of different texts (varint), each text after its length, then a column of numbers that
 * says which text each record has.
 */

/** Gathers a column of texts and keeps each different text once. */
export class TextColumn {
  readonly #places = new Map<string, number>();
  readonly #values: number[] = [];

  add(text: string): void {
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.#places.size;
      this.#places.set(text, place);
    }
    this.#values.push(place);
  }

  put(sink: ByteSink): void {
    putVarint(sink, this.#places.size);
    for (const text of this.#places.keys()) putSized(sink, Buffer.from(text));
    putNumbers(sink, this.#values);
  }
}

/** The texts of a column, in UTF-8, in the order of the records that have one. */
export class TextsRead {
  readonly #texts: readonly Buffer[];
  readonly #places: Float64Array;
  /** The text that all records share. Undefined when there are several texts, or none. */
  readonly only: Buffer | undefined;

  constructor(body: BodyReader, count: number) {
    this.#texts = Array.from({ length: body.count() }, () => body.sized());
    const place = readConstant(body, count);
    this.only = place === undefined ? undefined : this.#texts[place];
    if (place !== undefined && this.only === undefined) throw new BlockDamaged("a text of a block is missing");
    this.#places = place === undefined ? readNumbers(body, count) : noPlaces;
  }

  /** The text of a record, by its index among the records that have one. */
  at(index: number): Buffer {
    return this.only ?? this.#texts[this.#places[index] ?? 0] ?? nothing;
  }
}

const nothing = Buffer.alloc(0);
const noPlaces = new Float64Array(0);
