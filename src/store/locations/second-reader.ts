import type { Link, ReaderCalls } from "./calls.ts";

/**
 * A reader with a thread of its own, for calls that would keep those of another reader waiting. Starting the thread takes a tenth of a second of the whole service, so the first
 * call starts it. Until it stands, the other reader answers.
 */
export class SecondReader implements Link<ReaderCalls> {
  readonly #first: Link<ReaderCalls>;
  readonly #second: Link<ReaderCalls>;
  #stands = false;
  #starting: Promise<void> | undefined;

  constructor(first: Link<ReaderCalls>, second: Link<ReaderCalls>) {
    this.#first = first;
    this.#second = second;
  }

  /** Whether its own thread answers. */
  get stands(): boolean {
    return this.#stands;
  }

  start(): void {
    this.#starting ??= this.#second.call("check", null).then(
      () => {
        this.#stands = true;
      },
      () => {
        // The next call tries again.
        this.#starting = undefined;
      },
    );
  }

  call<K extends keyof ReaderCalls & string>(
    name: K,
    request: ReaderCalls[K]["request"],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ReaderCalls[K]["answer"]> {
    if (this.#stands) return this.#second.call(name, request, transfer);
    this.start();
    return this.#first.call(name, request, transfer);
  }
}
