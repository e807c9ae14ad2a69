import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { behindStore } from "./engine.ts";
import { call, type Service } from "./service.ts";

/**
 * Calls of one user over the lives of a service, and whether its counter forgets none but the last ones and invents
 * none.
 */
export class CountedCalls {
  /** Counts of the present life: what one of an earlier life counted may have been forgotten with it. */
  #answered: number[] = [];
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
    this.#answered.push(answer.apiUsage);
  }

  /** Resolves when what was answered so far is counted in the store, where nobody but this user has called. */
  async stored(directory: string): Promise<void> {
    const newest = Math.max(0, ...this.#answered);
    const behind = await behindStore(directory);
    const counted = async () => {
      const [row] = await behind.rows("select sum(requests) as requests from user_usage");
      return Number(row?.requests ?? 0);
    };
    while ((await counted()) < newest) await sleep(50);
    await behind.close();
    this.#least = newest;
  }

  /** The service has just ended; `cleanly`: nothing may be forgotten. */
  ended(cleanly: boolean): void {
    // Calls that are made at once are not answered in the order in which they are counted.
    const newest = Math.max(0, ...this.#answered);
    if (cleanly) this.#least = Math.max(this.#least, newest);
    this.#most = newest + this.#unanswered;
    this.#unanswered = 0;
  }

  /** Compares with the first call of the next life. Asking for its token may count as one. */
  async compare(service: Service, path: string): Promise<void> {
    this.#answered = [];
    await this.get(service, path);
    const usage = this.#answered.at(-1) ?? 0;
    assert.ok(usage > this.#least, `${usage} calls are counted, and ${this.#least} were stored before this one`);
    assert.ok(
      usage <= this.#most + 2,
      `${usage} calls are counted, and at most ${this.#most} were made before this one`,
    );
  }
}
