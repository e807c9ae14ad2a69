import type { Pdu } from "smpp";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { type LinkOptions, SmppLink } from "./smpp-link.ts";

/** How it connects. */
export interface ConnectionOptions extends LinkOptions {
  /** Pause before the first new try after a failure; it doubles up to `mostPauseMs`. */
  readonly firstPauseMs: number;
  readonly mostPauseMs: number;
}

/** There is no bound link now; a new one will be tried after that time. */
export interface NotBound {
  readonly reason: string;
  readonly retryAfterMs: number;
}

interface Deps {
  readonly clock: Clock;
  readonly log: Log;
  readonly onMessage: (pdu: Pdu) => Promise<boolean>;
}

/**
 * Keeps a bound link to the gateway for as long as it is not closed: connects anew, with growing pauses, whenever it is
 * lost.
 */
export class SmppConnection {
  readonly #options: ConnectionOptions;
  readonly #deps: Deps;
  readonly #waiting = new Set<() => void>();
  #link: SmppLink | undefined;
  #bound = false;
  #closed = false;
  /** Pause before the next try; back to the first one when the gateway has answered a message. */
  #pauseMs: number;
  #retryAt = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #reason = "not connected yet";

  constructor(options: ConnectionOptions, deps: Deps) {
    this.#options = options;
    this.#deps = deps;
    this.#pauseMs = options.firstPauseMs;
    this.#connect();
  }

  /** Whether messages can be sent now. */
  get bound(): boolean {
    return this.#bound;
  }

  /**
   * The bound link. While one is being made it waits for that, up to `waitMs`; while there is none it says so at once.
   */
  async link(waitMs: number): Promise<SmppLink | NotBound> {
    if (!this.#bound && this.#link !== undefined) await this.#change(waitMs);
    if (this.#bound && this.#link !== undefined) return this.#link;
    const retryAfterMs = Math.ceil(Math.max(0, this.#retryAt - this.#deps.clock.monotonic()));
    return { reason: this.#reason, retryAfterMs };
  }

  /** The gateway works: should it be lost, the first new try comes soon. */
  works(): void {
    this.#pauseMs = this.#options.firstPauseMs;
  }

  /** Unbinds and stays closed. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#reason = "closed";
    clearTimeout(this.#retryTimer);
    await this.#link?.close();
  }

  #connect(): void {
    const { host, port } = this.#options;
    this.#link = new SmppLink(this.#options, {
      bound: () => {
        this.#bound = true;
        this.#deps.log.info({ host, port }, "bound to the SMS gateway");
        this.#wake();
      },
      message: (pdu) => this.#deps.onMessage(pdu),
      closed: (reason) => this.#lost(reason),
    });
  }

  #lost(reason: string): void {
    this.#link = undefined;
    this.#bound = false;
    if (!this.#closed) {
      const { host, port, mostPauseMs } = this.#options;
      const pause = this.#pauseMs;
      this.#pauseMs = Math.min(pause * 2, mostPauseMs);
      this.#reason = reason;
      this.#retryAt = this.#deps.clock.monotonic() + pause;
      this.#retryTimer = setTimeout(() => this.#connect(), pause);
      this.#deps.log.warn({ host, port, reason, retryMs: pause }, "the SMS gateway is lost");
    }
    this.#wake();
  }

  /** Resolves when the link is bound or lost, or the time is over. */
  #change(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, waitMs);
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
