import assert from "node:assert/strict";
import { call, type Service } from "./service.ts";

/**
 * Counters are stored once a second: a call that was answered so long before a kill is counted after it, ms; the rest
 * is for a machine under load.
 */
const storedAfterMs = 2500;

/**
 * Calls of one user over the lives of a service, and whether its counter forgets none but the last ones and invents
 * none.
 */
export class CountedCalls {
  /** Answers of the present life: what one of an earlier life counted may have been forgotten with it. */
  #answered: { readonly at: number; readonly usage: number }[] = [];
  /** The least and the most that the next life's first answer may count. */
  #least = 0;
  #most = 0;
  #unanswered = 0;

  /** A call, or nothing where the service ends before its answer. */
  async get(service: Service, path: string): Promise<void> {
    this.#unanswered++;
    const answer = await call<{ apiUsage: number }>(service, "GET", path).catch((error: unknown) => {
      // What fetch says where there is no connection; an answer with an error is one.
      if (error instanceof TypeError) return undefined;
      throw error;
    });
    if (answer === undefined) return;
    this.#unanswered--;
    this.#answered.push({ at: performance.now(), usage: answer.apiUsage });
  }

  /** The service has just ended; `cleanly`: nothing may be forgotten. */
  ended(cleanly: boolean): void {
    const now = performance.now();
    const newest = most(this.#answered);
    const stored = most(this.#answered.filter(({ at }) => now - at > storedAfterMs));
    this.#least = Math.max(this.#least, cleanly ? newest : stored);
    this.#most = newest + this.#unanswered;
    this.#unanswered = 0;
  }

  /** Compares with the first call of the next life. Asking for its token may count as one. */
  async compare(service: Service, path: string): Promise<void> {
    this.#answered = [];
    await this.get(service, path);
    const usage = this.#answered.at(-1)?.usage ?? 0;
    assert.ok(usage > this.#least, `${usage} calls are counted, and ${this.#least} were stored before this one`);
    assert.ok(
      usage <= this.#most + 2,
      `${usage} calls are counted, and at most ${this.#most} were made before this one`,
    );
  }
}

/** The highest count of these. Calls that are made at once are not answered in the order in which they are counted. */
function most(answered: readonly { readonly usage: number }[]): number {
  return answered.reduce((highest, { usage }) => Math.max(highest, usage), 0);
}
