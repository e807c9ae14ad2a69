import type { Log } from "../ports/log.ts";
import type { PositionStore, Unfollowed } from "../ports/positions.ts";
import type { Processes } from "../ports/processes.ts";

/**
 * How often it looks for what others appended, ms, while there are others; and each how many times everywhere, others
 * or not.
 */
const lookMs = 250;
const looksToAll = 4;

/** What taking works with. */
export interface TakingDeps {
  readonly positions: Pick<PositionStore, "unfollowed">;
  readonly processes: Pick<Processes, "others">;
  readonly log: Log;
  /** What was appended and is this process's to follow. */
  readonly take: (some: Unfollowed) => void;
}

/**
 * Finds what was appended of the devices that this process follows, by other processes or before its start. One
 * question is under way at a time.
 */
export class Taking {
  readonly #deps: TakingDeps;
  /** The next question, for all who have asked since the one that is under way. */
  #next: Promise<void> | undefined;
  #how: "all" | "new" = "new";
  /** Everything is taken that was there when somebody asked for all of it. */
  isComplete = true;
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #hasFailed = false;
  #isStopped = false;
  /** Resolves when the question that is under way is answered. */
  over: Promise<void> = Promise.resolve();

  constructor(deps: TakingDeps) {
    this.#deps = deps;
  }

  /** Resolves when everything is taken that was appended before the call. */
  now(how: "all" | "new"): Promise<void> {
    if (how === "all") {
      this.#how = how;
      this.isComplete = false;
    }
    this.#next ??= this.over.then(() => {
      this.#next = undefined;
      const taken = this.#take();
      this.over = taken.catch(() => undefined);
      return taken;
    });
    return this.#next;
  }

  async #take(): Promise<void> {
    const how = this.#how;
    this.#how = "new";
    try {
      for await (const some of this.#deps.positions.unfollowed(how)) this.#deps.take(some);
      this.#hasFailed = false;
      // Unless it was asked for again meanwhile.
      if (how === "all") this.isComplete = this.#how === "new";
    } catch (error) {
      this.#how = "all";
      throw error;
    }
  }

  /** Resolves when all is taken that stood there when this process came to follow a share, or that failed. */
  get known(): Promise<void> | undefined {
    return this.isComplete ? undefined : (this.#next ?? this.over).catch(() => undefined);
  }

  /** The same in the background. What fails is taken by the next look. */
  soon(): void {
    if (this.#isStopped) return;
    this.now("new").catch((error: unknown) => {
      if (!this.#hasFailed)
        this.#deps.log.warn({ error }, "what other processes appended can't be taken; trying again");
      this.#hasFailed = true;
    });
  }

  /** Looks again and again. Resolves when everything is taken that stands there from before. */
  begin(): Promise<void> {
    this.#timer = setInterval(() => {
      if (++this.#looks % looksToAll === 0) this.#how = "all";
      if (this.#how === "all" || this.#deps.processes.others.length > 0) this.soon();
    }, lookMs).unref();
    return this.now("all");
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#next?.catch(() => undefined);
    await this.over;
  }
}
