import { type Stats, statSync } from "node:fs";
import { sqliteError } from "./engine-errors.ts";

/** SQLITE_CANTOPEN: the store is unavailable, until the file is back in its place. */
const cantOpen = 14;

/**
 * A database file that is open. No later start finds what is written into a file that was moved or deleted, so none of
 * it may be acknowledged.
 */
export class OpenFile {
  readonly #name: string;
  readonly #found: Stats;

  constructor(name: string) {
    this.#name = name;
    this.#found = statSync(name);
  }

  /** Writes to the file. Throws where another file, or none, is in its place before or afterwards. */
  written<T>(write: () => T): T {
    this.#inPlace();
    const answer = write();
    this.#inPlace();
    return answer;
  }

  #inPlace(): void {
    const { ino, dev } = statSync(this.#name, { throwIfNoEntry: false }) ?? {};
    if (ino === this.#found.ino && dev === this.#found.dev) return;
    throw sqliteError(`${this.#name} was moved or deleted under the running service`, cantOpen);
  }
}
