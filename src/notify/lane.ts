import type { Notice, NoticeChannel } from "../model/notice.ts";
import type { Due, DueAsk, DuePlace, NoticeStore } from "../ports/alert-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { LeftBehind } from "./left-behind.ts";
import { mostWaiting, type Showed, type TargetOptions, Targets } from "./targets.ts";
import { Throttle } from "./throttle.ts";

/** What a lane needs of the outbox. */
export interface LaneDeps {
  readonly notices: Pick<NoticeStore, "due" | "postpone">;
  readonly clock: Clock;
  readonly log: Log;
  /** See `ThrottleDeps`. */
  readonly busyLoad: () => number;
  /** Tries a notice once and records what became of it. */
  readonly work: (notice: Notice) => Promise<Showed>;
}

/** Notices that are asked for at a time: work for a second or so, and some ten milliseconds of the store. */
const page = 200;
/** How often what is due is gone through from the first while much of it waits in memory, ms. */
const fromFirstMs = 1000;
/** And while more is left behind the place than memory holds: a backlog may grow for as long as it is worked off. */
const fromFirstAtLeastMs = 60_000;
/**
 * What one target's accounts have due is gone through from the first for a twentieth of the time at most: it may be a
 * hundred thousand.
 */
const passShare = 20;
/** Pause before the store is asked again where it could not be, ms. */
const storeDownMs = 1000;

/**
 * Works off the due notices of one channel, so that targets which hang delay neither the others nor another channel,
 * and at one that all share no account delays another.
 */
export class Lane {
  readonly #channel: NoticeChannel;
  readonly #deps: LaneDeps;
  readonly #targets: Targets;
  readonly #throttle: Throttle;
  readonly #oneTarget: boolean;
  readonly #slowMs: number;
  readonly #running = new Set<Promise<void>>();
  /**
   * Keys of those that wait in memory or are under way; and of those that ended while the store was asked, which its
   * answer may still show.
   */
  readonly #held = new Set<number>();
  readonly #ended = new Set<number>();
  /** Where all go to the same target. */
  readonly #left: LeftBehind;
  #looking: Promise<void> | undefined;
  #wanted = false;
  /** Something may be due behind the place. */
  #stirred = false;
  /** There is more in the store than was taken: behind this place. */
  #more = false;
  #place: DuePlace | undefined;
  /** When it was last looked from the first one on, by the clock that never goes back. */
  #fromFirstAt = Number.NEGATIVE_INFINITY;
  /** When a pass from the first on began, and how long the last one took, ms; undefined: it is under way. */
  #passAt = Number.NEGATIVE_INFINITY;
  #passMs: number | undefined = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  /** Until the next try may begin. */
  #heldBack: NodeJS.Timeout | undefined;

  constructor(channel: NoticeChannel, options: TargetOptions, deps: LaneDeps) {
    this.#channel = channel;
    this.#deps = deps;
    this.#targets = new Targets(options);
    this.#throttle = new Throttle(deps);
    this.#oneTarget = options.targetOf === undefined;
    this.#slowMs = options.slowMs ?? Number.POSITIVE_INFINITY;
    this.#left = new LeftBehind((account) => this.#targets.shareOf(account));
  }

  /** Looks for what is due. */
  wake(): void {
    this.#stirred = true;
    this.#lookAgain();
  }

  #lookAgain(): void {
    this.#wanted = true;
    if (this.#stopped || this.#looking !== undefined) return;
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#wanted) this.#lookAgain();
    });
  }

  /** Notices that are being tried. */
  get underWay(): number {
    return this.#running.size;
  }

  /** Begins nothing more; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#heldBack);
    await this.#looking;
    await Promise.allSettled(this.#running);
  }

  async #look(): Promise<void> {
    this.#wanted = false;
    if (this.#isFull()) {
      this.#more = true;
      this.#run();
      return;
    }
    const { log } = this.#deps;
    try {
      if (this.#stirred || this.#more || this.#isLongAgo()) await this.#goOn();
      await this.#takeUp();
      if (this.#isHungry()) this.#wanted = true;
    } catch (error) {
      this.#more = false;
      this.#place = undefined;
      this.#left.clear();
      if (this.#stopped) return;
      log.warn({ error, channel: this.#channel }, "due notices can't be asked for; trying again");
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.wake(), storeDownMs);
    }
  }

  /** Takes what is due behind the place, but of accounts that have their share: theirs is left. */
  async #goOn(): Promise<void> {
    this.#stirred = false;
    const after = this.#behind();
    const left = this.#left;
    if (this.#oneTarget) for (const account of this.#targets.full()) left.leave(account, after);
    const ofAccount = this.#oneTarget && left.any ? (account: number) => !left.has(account) : undefined;
    const { fresh, last, more } = await this.#ask({ limit: page, after, ...(ofAccount && { ofAccount }) });
    this.#more = more;
    if (!more) this.#passMs ??= this.#deps.clock.monotonic() - this.#passAt;
    this.#place = last ?? after;
    await this.#take(fresh, after);
  }

  /** Takes more of an account whose notices were left and whose share has room again. */
  async #takeUp(): Promise<void> {
    const account = this.#left.hungry();
    if (account === undefined) return;
    const { waiting, room } = this.#targets.shareOf(account);
    const after = this.#left.placeOf(account);
    const ofAccount = (other: number) => other === account;
    const { fresh, last, more } = await this.#ask({ limit: room - waiting, after, ofAccount });
    this.#left.takeUp(account);
    await this.#take(fresh, after);
    if (more) this.#left.leave(account, last ?? after);
  }

  async #ask(ask: DueAsk): Promise<Omit<Due, "notices"> & { readonly fresh: readonly Notice[] }> {
    const { notices, clock } = this.#deps;
    this.#ended.clear();
    const found = await notices.due(this.#channel, clock.now(), { ...ask, besides: this.#held });
    return { ...found, fresh: found.notices.filter(({ key }) => !this.#held.has(key) && !this.#ended.has(key)) };
  }

  /**
   * Whether more in memory would be of no use. Among many targets there may be one that works, whatever waits for the
   * others.
   */
  #isFull(): boolean {
    return this.#oneTarget && this.#targets.waiting >= mostWaiting;
  }

  /** Whether the store has more, and the memory room for it. */
  #isHungry(): boolean {
    if (this.#targets.waiting >= mostWaiting) return false;
    return this.#more || this.#left.hungry() !== undefined;
  }

  /**
   * Where to go on; undefined: from the first on. What waits in memory is still queued in the store. It is gone through
   * again once a second only, for what came to lie before the place: with a hundred commits a second that queue notices
   * for a target that hangs, the store did little else.
   */
  #behind(): DuePlace | undefined {
    const now = this.#deps.clock.monotonic();
    const isWorkedOff =
      this.#more || this.#left.any || (this.#held.size >= page && now - this.#fromFirstAt < fromFirstMs);
    if (isWorkedOff && !this.#isLongAgo()) {
      if (this.#more || !this.#left.any || !this.#isPassDue(now)) return this.#place;
    } else {
      this.#fromFirstAt = now;
      this.#left.clear();
    }
    this.#passAt = now;
    this.#passMs = undefined;
    return undefined;
  }

  /** Whether all that is due must be looked at from the first on, whatever was left. */
  #isLongAgo(): boolean {
    return this.#deps.clock.monotonic() - this.#fromFirstAt >= fromFirstAtLeastMs;
  }

  /** Whether to look for what other accounts have before the place. */
  #isPassDue(now: number): boolean {
    return now - this.#passAt >= Math.max(fromFirstMs, passShare * (this.#passMs ?? 0));
  }

  /** `after`: the place that they lie behind. */
  async #take(fresh: readonly Notice[], after: DuePlace | undefined): Promise<void> {
    const now = this.#deps.clock.now();
    const later = new Map<number, number[]>();
    let place = after;
    for (const notice of fresh) {
      const before = place;
      place = { dueAt: notice.dueAt, key: notice.key };
      if (this.#oneTarget && this.#isShareTaken(notice.account)) {
        this.#left.leave(notice.account, before);
        continue;
      }
      const until = this.#targets.add(notice, now);
      if (until === undefined) this.#held.add(notice.key);
      else later.set(until, [...(later.get(until) ?? []), notice.key]);
    }
    this.#run();
    for (const [dueAt, keys] of later) await this.#deps.notices.postpone(keys, dueAt);
  }

  #isShareTaken(account: number): boolean {
    const { waiting, room } = this.#targets.shareOf(account);
    return waiting >= room;
  }

  #run(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#throttle.began();
      const running = this.#work(next).finally(() => {
        this.#running.delete(running);
        this.#run();
        if (this.#oneTarget ? this.#isHungry() : this.#more && this.#targets.waiting < page / 2) this.#lookAgain();
      });
      this.#running.add(running);
    }
  }

  #next(): Notice | undefined {
    return this.#stopped || this.#holdBack() ? undefined : this.#targets.take(this.#deps.clock.now());
  }

  /** Whether what waits must wait a little longer, so that others have the event loop. It begins by itself then. */
  #holdBack(): boolean {
    if (this.#heldBack !== undefined || this.#targets.waiting === 0) return true;
    const waitMs = this.#throttle.waitMs();
    if (waitMs <= 0) return false;
    this.#heldBack = setTimeout(() => {
      this.#heldBack = undefined;
      this.#run();
    }, waitMs);
    return true;
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
      this.#deps.log[this.#stopped ? "debug" : "warn"]({ error, channel: this.#channel }, "notices can't be postponed");
    }
  }
}
