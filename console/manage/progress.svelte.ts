import { type Problem, problemOf } from "../api/problem.ts";

/** Requests at a time: a bulk edit leaves room for everybody else. */
const atOnce = 4;
/** The longest that a refusal lets a bulk edit wait before it tries the item again. */
const longestWaitSeconds = 60;

/** A bulk edit: how far it is, and what failed. It goes on while the person looks at another page. */
export class Bulk<T> {
  done = $state(0);
  total = $state(0);
  running = $state(false);
  /** How many failed. */
  failed = $state(0);
  #problems = new Map<T, Problem>();
  #stopped = false;

  /** What failed, in the order of failing. */
  get failures(): ReadonlyMap<T, Problem> {
    // The map is kept and not copied, so that each of 50,000 failures costs the same; who reads it hears of more by the
    // count.
    return this.failed === 0 ? new Map() : this.#problems;
  }

  /** Does something with each item. Where the service is asked too often, it waits as long as it is told. */
  async run(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
    this.done = 0;
    this.total = items.length;
    this.failed = 0;
    this.#problems = new Map();
    this.#stopped = false;
    this.running = true;
    addEventListener("beforeunload", askToStay);
    const queue = items.values();
    const work = async () => {
      for (const item of queue) {
        if (this.#stopped) return;
        await this.#one(item, act);
        this.done += 1;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    removeEventListener("beforeunload", askToStay);
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
          this.#problems.set(item, problem);
          this.failed += 1;
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      }
  }
}

/** Closing the page would end it halfway. */
function askToStay(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
