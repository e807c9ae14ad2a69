import type { Exchange } from "./exchange.ts";

/**
 * Exchanges that wait for a commit, in the order of arrival. A linked list: empty, it costs nothing; one message in
 * flight, no array.
 */
export class ExchangeQueue {
  #first: Exchange | undefined;
  #last: Exchange | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(exchange: Exchange): void {
    if (this.#last === undefined) this.#first = exchange;
    else this.#last.next = exchange;
    this.#last = exchange;
    exchange.queued = true;
    this.#length++;
  }

  /** Takes the first one, if nothing of it is waited for any longer. */
  shiftSettled(): Exchange | undefined {
    const first = this.#first;
    if (first === undefined || !first.sealed || first.outstanding > 0) return undefined;
    this.#first = first.next;
    if (this.#first === undefined) this.#last = undefined;
    first.next = undefined;
    this.#length--;
    return first;
  }

  /** Forgets all of them; gives how many they were. */
  clear(): number {
    const length = this.#length;
    this.#first = this.#last = undefined;
    this.#length = 0;
    return length;
  }
}
