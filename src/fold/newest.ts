import type { SaidRecord } from "../model/said.ts";

/** So many keys of a moment are remembered. */
const mostKeys = 16;

/** The newest records of a device. */
export interface NewestRecords {
  readonly newest?: SaidRecord;
  /** The newest one that came with a position. */
  readonly located?: SaidRecord;
}

/** Whether a record stands behind all others: it does · it is one of them · only reading tells. */
export type Standing = "next" | "repeat" | "late";

/** Remembers the newest records, as they are added in their order. */
export class Newest {
  #newest: SaidRecord | undefined;
  #located: SaidRecord | undefined;
  /** Keys of the newest moment. */
  #keys: number[] = [];
  /** Whether these are all of them. */
  #hasAllKeys = true;

  constructor({ newest, located }: NewestRecords = {}) {
    this.#newest = newest;
    this.#located = located;
    if (newest === undefined) return;
    this.#keys.push(newest.key);
    this.#hasAllKeys = false;
  }

  get newest(): SaidRecord | undefined {
    return this.#newest;
  }

  get records(): NewestRecords {
    return { ...(this.#newest && { newest: this.#newest }), ...(this.#located && { located: this.#located }) };
  }

  get time(): number {
    return this.#newest?.time ?? Number.NEGATIVE_INFINITY;
  }

  standingOf({ time, key }: SaidRecord): Standing {
    if (time !== this.time) return time > this.time ? "next" : "late";
    if (this.#keys.includes(key)) return "repeat";
    return this.#hasAllKeys ? "next" : "late";
  }

  add(record: SaidRecord): void {
    if (record.time !== this.time) {
      this.#keys = [];
      this.#hasAllKeys = true;
    }
    if (this.#keys.length < mostKeys) this.#keys.push(record.key);
    else this.#hasAllKeys = false;
    this.#newest = record;
    if (!record.unlocated) this.#located = record;
  }

  /** Takes what was read of some time, all of it. `isNewest`: up to the newest record. */
  take(read: Newest, isNewest: boolean): void {
    if (read.#located !== undefined && read.#located.time >= (this.#located?.time ?? Number.NEGATIVE_INFINITY))
      this.#located = read.#located;
    if (!isNewest || read.#newest === undefined) return;
    this.#newest = read.#newest;
    this.#keys = read.#keys;
    this.#hasAllKeys = read.#hasAllKeys;
  }
}
