import type { Notice, NoticeChannel } from "../model/notice.ts";
import type { DuePlace, NoticeStore } from "../ports/alert-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { mostWaiting, type Showed, type TargetOptions, Targets } from "./targets.ts";

/** What a lane needs of the outbox. */
export interface LaneDeps {
  readonly notices: Pick<NoticeStore, "due" | "postpone">;
  readonly clock: Clock;
  readonly log: Log;
  /** Tries a notice once and records what became of it. */
  readonly work: (notice: Notice) => Promise<Showed>;
}

/** Notices that are asked for at a time: work for a second or so, and some ten milliseconds of the store. */
const page = 200;
/** How often what is due is gone through from the first while much of it waits in memory, ms. */
const fromFirstMs = 1000;
/** And while more is left behind the place than memory holds: a backlog may grow for as long as it is worked off. */
const fromFirstAtLeastMs = 60_000;
/** Pause before the store is asked again where it could not be, ms. */
const storeDownMs = 1000;

/** Works off the due notices of one channel, so that targets which hang delay neither the others nor another channel. */
export class Lane {
  readonly #channel: NoticeChannel;
  readonly #deps: LaneDeps;
  readonly #targets: Targets;
  readonly #oneTarget: boolean;
  readonly #slowMs: number;
  readonly #mostWaiting: number;
  readonly #running = new Set<Promise<void>>();
  /** Keys of those that wait in memory or are under way; and of those that ended while the store was asked, which its answer may still show. */
  readonly #held = new Set<number>();
  readonly #ended = new Set<number>();
  #looking: Promise<void> | undefined;
  #wanted = false;
  /** There is more in the store than was taken: behind this place. */
  #more = false;
  #place: DuePlace | undefined;
  /** When it was last looked from the first one on, by the clock that never goes back. */
  #fromFirstAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(channel: NoticeChannel, options: TargetOptions, deps: LaneDeps) {
    this.#channel = channel;
    this.#deps = deps;
    this.#targets = new Targets(options);
    this.#oneTarget = options.targetOf === undefined;
    this.#slowMs = options.slowMs ?? Number.POSITIVE_INFINITY;
    this.#mostWaiting = this.#oneTarget ? page : mostWaiting;
  }

  /** Looks for what is due. */
  wake(): void {
    this.#wanted = true;
    if (this.#stopped || this.#looking !== undefined) return;
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#wanted) this.wake();
    });
  }

  /** Begins nothing more; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.allSettled(this.#running);
  }

  async #look(): Promise<void> {
    this.#wanted = false;
    this.#ended.clear();
    if (this.#isFull()) {
      this.#more = true;
      return;
    }
    const { notices, clock, log } = this.#deps;
    try {
      const after = this.#behind();
      const found = await notices.due(this.#channel, clock.now(), { limit: page, after, besides: this.#held });
      const fresh = found.notices.filter(({ key }) => !this.#held.has(key) && !this.#ended.has(key));
      this.#more = found.more;
      this.#place = found.last ?? after;
      await this.#take(fresh);
      if (this.#more && this.#targets.waiting < this.#mostWaiting) this.#wanted = true;
    } catch (error) {
      this.#more = false;
      this.#place = undefined;
      log.warn({ error, channel: this.#channel }, "due notices can't be asked for; trying again");
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.wake(), storeDownMs);
    }
  }

  /** Whether more in memory would be of no use. Among many targets there may be one that works, whatever waits for the others. */
  #isFull(): boolean {
    return this.#oneTarget && this.#targets.waiting >= this.#mostWaiting;
  }

  /**
   * Where to go on; undefined: from the first on. What waits in memory is still queued in the store. It is gone through again once a second only, for what came to lie
   * before the place: with a hundred commits a second that queue notices for a target that hangs, the store did little else.
   */
  #behind(): DuePlace | undefined {
    const now = this.#deps.clock.monotonic();
    const since = now - this.#fromFirstAt;
    if (since < fromFirstAtLeastMs && (this.#more || (this.#held.size >= page && since < fromFirstMs)))
      return this.#place;
    this.#fromFirstAt = now;
    return undefined;
  }

  async #take(fresh: readonly Notice[]): Promise<void> {
    const now = this.#deps.clock.now();
    const later = new Map<number, number[]>();
    for (const notice of fresh) {
      const until = this.#targets.add(notice, now);
      if (until === undefined) this.#held.add(notice.key);
      else later.set(until, [...(later.get(until) ?? []), notice.key]);
    }
    this.#run();
    for (const [dueAt, keys] of later) await this.#deps.notices.postpone(keys, dueAt);
  }

  #run(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const running = this.#work(next).finally(() => {
        this.#running.delete(running);
        this.#run();
        if (this.#more && this.#targets.waiting < page / 2) this.wake();
      });
      this.#running.add(running);
    }
  }

  #next(): Notice | undefined {
    return this.#stopped ? undefined : this.#targets.take();
  }

  async #work(notice: Notice): Promise<void> {
    const { work, clock, log } = this.#deps;
    let showed: Showed = {};
    const began = clock.monotonic();
    try {
      showed = await work(notice);
      if (showed.works && clock.monotonic() - began > this.#slowMs) showed = { ...showed, works: false };
    } catch (error) {
      log.error({ error, notice: notice.id }, "a notice could not be worked on");
    }
    const { back, until } = this.#targets.done(notice, showed, clock.now());
    for (const { key } of [notice, ...back]) {
      this.#held.delete(key);
      this.#ended.add(key);
    }
    if (back.length > 0)
      await this.#putBack(
        back.map(({ key }) => key),
        until,
      );
  }

  /** What can't be postponed stays due, and is postponed when it is found again. */
  async #putBack(keys: readonly number[], until: number): Promise<void> {
    try {
      await this.#deps.notices.postpone(keys, until);
    } catch (error) {
      this.#deps.log.warn({ error, channel: this.#channel }, "notices can't be postponed");
    }
  }
}
