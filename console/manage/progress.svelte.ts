import { type Problem, problemOf } from "../api/problem.ts";

/** Requests at a time: a bulk edit leaves room for everybody else. */
const atOnce = 4;
/** The longest that a refusal lets a bulk edit wait before it tries the item again. */
const longestWaitSeconds = 60;

/** A bulk edit: how far it is, and what failed. */
export class Bulk<T> {
  done = $state(0);
  total = $state(0);
  running = $state(false);
  failures = $state.raw<readonly { readonly item: T; readonly problem: Problem }[]>([]);
  #stopped = false;

  /** Does something with each item. Where the service is asked too often, it waits as long as it is told. */
  async run(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
    this.done = 0;
    this.total = items.length;
    this.running = true;
    this.failures = [];
    this.#stopped = false;
    const queue = items.values();
    const work = async () => {
      for (const item of queue) {
        if (this.#stopped) return;
        await this.#one(item, act);
        this.done += 1;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    this.running = false;
  }

  /** Ends it; what is done stays. */
  stop(): void {
    this.#stopped = true;
  }

  async #one(item: T, act: (item: T) => Promise<unknown>): Promise<void> {
    for (;;)
      try {
        await act(item);
        return;
      } catch (thrown) {
        const problem = problemOf(thrown);
        const wait = problem.retryAfterSeconds;
        if (problem.status !== 429 || wait === undefined || wait > longestWaitSeconds || this.#stopped) {
          this.failures = [...this.failures, { item, problem }];
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      }
  }
}
