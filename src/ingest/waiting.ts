/** Below this part of what may wait there is room for everybody, and nobody is looked at. */
const roomyPart = 1 / 16;
/**
 * A device may have this part of what is free: its reports are appended one batch after the other, so that more would
 * only wait.
 */
const devicePart = 1 / 8;

/**
 * The bytes of reports that wait for their append, by account. An account may take as much as it leaves free for the
 * others: one alone half of it, two a third each. So one that sends more than is stored is held back by itself, and
 * there is always room for those that send little. A device of which nothing waits gets in beyond that, up to twice
 * what is left free: otherwise an account's live trackers waited until its backlogs had each had their turn.
 */
export class Waiting {
  readonly #most: number;
  readonly #byAccount = new Map<number, number>();
  #bytes = 0;
  #reports = 0;

  /** `most`: bytes that may wait in all. */
  constructor(most: number) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get reports(): number {
    return this.#reports;
  }

  /** More waits than may. */
  get over(): boolean {
    return this.#bytes > this.#most;
  }

  /** Half of what may wait is free again. */
  get relieved(): boolean {
    return this.#bytes <= this.#most / 2;
  }

  /** Counts what begins to wait, or with numbers below 0 what waits no longer. */
  add(accountKey: number, bytes: number, reports: number): void {
    this.#bytes += bytes;
    this.#reports += reports;
    const left = (this.#byAccount.get(accountKey) ?? 0) + bytes;
    if (left > 0) this.#byAccount.set(accountKey, left);
    else this.#byAccount.delete(accountKey);
  }

  /** Whether more of a device may wait, of which `deviceBytes` do. */
  takes(accountKey: number, deviceBytes: number): boolean {
    if (this.#bytes <= this.#most * roomyPart) return true;
    const free = this.#most - this.#bytes;
    const mostOfAccount = deviceBytes === 0 ? 2 * free : free;
    return deviceBytes <= free * devicePart && (this.#byAccount.get(accountKey) ?? 0) <= mostOfAccount;
  }
}
