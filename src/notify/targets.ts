import type { Notice } from "../model/notice.ts";
import type { Share } from "./left-behind.ts";
import { Turns } from "./turns.ts";

/** How much is under way at a time. */
export interface TargetOptions {
  readonly parallel: number;
  /** Of that to one target; and to one that did not take the last. */
  readonly perTarget: number;
  readonly perFailing: number;
  /**
   * A target that takes a notice only after this time, ms, counts as one that did not take it: hundreds of them would
   * hold the whole lane. Absent: none does.
   */
  readonly slowMs?: number;
  /**
   * What a notice goes to, where one may hang and another work: a URL, a device. Absent: all go to the same, where
   * their accounts take turns.
   */
  readonly targetOf?: (notice: Notice) => string;
  /** Targets that share a machine, and how much is under way to one. */
  readonly groups?: { readonly groupOf: (notice: Notice) => string; readonly most: number };
}

/** What a try showed of its target. */
export interface Showed {
  /** Undefined: nothing of it. */
  readonly works?: boolean;
  /** How long it wants to be left alone, ms. */
  readonly pauseMs?: number;
}

/** What is under way, and what of it to targets that failed the last time. */
interface UnderWay {
  all: number;
  failing: number;
}

interface Target {
  readonly name: string;
  readonly groupName: string;
  readonly group: UnderWay;
  readonly waiting: Turns;
  running: number;
  failing: boolean;
  /** When the target asked for a pause, and until when. */
  pausedAt: number;
  pausedUntil: number;
  /** When the last group of notices that were sent back to the store is due again, and how many it has. */
  backAt: number;
  backCount: number;
  /** From that group to the next, ms, by the notices that the target took since then. */
  gapMs: number;
  taken: number;
  since: number;
}

/**
 * Notices that wait in memory, 1 KB each. Above this number each target has an equal part, so that a target that works
 * among many that hang still gets its notices.
 */
export const mostWaiting = 5000;
/**
 * The most that one target may have of these: enough for one that works, and few for one that fails, of which there may
 * be many.
 */
const mostWaitingOfOne = 200;
const mostWaitingFailing = 8;
/** The least share of an account at a target that is all accounts': what is read for one question to the store. */
const leastShare = 8;
/** How long those wait in the store that would be more, ms: a working target is done with its own by then. */
const crowdedMs = 5000;
const crowdedFailingMs = 30_000;
/**
 * They come back in groups, one after the other: twice as many as a working target takes, within these gaps, ms. A
 * hundred thousand that came back together each time kept the store and the thread busy with nothing else.
 */
const groupSize = 200;
const leastGapMs = 1000;
const mostGapMs = 20_000;
const failingGapMs = 6000;
/** The longest that one waits for its group, ms: a target that works again has them all in time. */
const mostLaterMs = 600_000;
/** Targets that are remembered for having failed though nothing waits for them. */
const mostRemembered = 1000;

/**
 * Notices that wait in memory for their target, and whose turn it is: each target has so many under way at a time, one
 * that failed the last time fewer, and all that failed together half of the lane, and of what goes to their machine. So
 * neither one that hangs nor many of them hold up those that work.
 */
export class Targets {
  readonly #options: TargetOptions;
  /** In the order of their turns. */
  readonly #targets = new Map<string, Target>();
  readonly #groups = new Map<string, UnderWay>();
  readonly #lane: UnderWay = { all: 0, failing: 0 };
  #waiting = 0;

  constructor(options: TargetOptions) {
    this.#options = options;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * The share of an account where all go to the same target: an equal part of what waits for a target, and some at
   * least, for each account that waits.
   */
  shareOf(account: number): Share {
    const turns = this.#targets.get("")?.waiting;
    const waiting = turns?.sizeOf(account) ?? 0;
    const accounts = (turns?.accountCount ?? 0) + (waiting === 0 ? 1 : 0);
    return { waiting, room: Math.max(leastShare, Math.floor(mostWaitingOfOne / accounts)) };
  }

  /** Accounts that have their share, or more. */
  full(): readonly number[] {
    const accounts = [...(this.#targets.get("")?.waiting.accounts() ?? [])];
    return accounts.filter((account) => {
      const { waiting, room } = this.shareOf(account);
      return waiting >= room;
    });
  }

  /**
   * Lets a notice wait here. A time: it must wait in the store until then, since its target is to be left alone, or has
   * enough waiting.
   */
  add(notice: Notice, now: number): number | undefined {
    const name = this.#nameOf(notice);
    const target = this.#targets.get(name) ?? this.#newTarget(name, notice, now);
    const paused = isPaused(target, now) && !this.#isOne;
    if (paused || target.waiting.size >= this.#roomOf(target)) return sendBack(target, now, 1);
    target.waiting.add(notice);
    this.#targets.set(name, target);
    this.#waiting++;
    return undefined;
  }

  /** The notice whose turn it is, which is under way now; undefined: none may begin. */
  take(now: number): Notice | undefined {
    if (this.#lane.all >= this.#options.parallel) return undefined;
    for (const target of this.#targets.values()) {
      const notice = this.#mayBegin(target, now) ? target.waiting.take() : undefined;
      if (notice === undefined) continue;
      this.#waiting--;
      this.#count(target, 1);
      this.#targets.delete(target.name);
      this.#targets.set(target.name, target);
      return notice;
    }
    return undefined;
  }

  /** A notice that was under way is so no longer. Gives back those that must wait in the store now, and until when. */
  done(notice: Notice, { works, pauseMs }: Showed, now: number): { readonly back: readonly Notice[]; until: number } {
    const target = this.#targets.get(this.#nameOf(notice));
    if (target === undefined) return { back: [], until: now };
    this.#count(target, -1);
    target.taken++;
    if (works !== undefined && works === target.failing) this.#mark(target, !works);
    if (pauseMs !== undefined) {
      target.pausedUntil = Math.max(isPaused(target, now) ? target.pausedUntil : now, now + pauseMs);
      target.pausedAt = now;
    }
    const paused = isPaused(target, now);
    const back = target.waiting.keep(paused && !this.#isOne ? 0 : mostOf(target, this.#options));
    this.#waiting -= back.length;
    const until = sendBack(target, now, back.length);
    this.#forget(target, paused);
    return { back, until };
  }

  /**
   * All go to the same: what must wait stays due in the store, since a later time would put an account behind all that
   * another one has.
   */
  get #isOne(): boolean {
    return this.#options.targetOf === undefined;
  }

  #nameOf(notice: Notice): string {
    return this.#options.targetOf?.(notice) ?? "";
  }

  /** How many may wait here for a target now. */
  #roomOf(target: Target): number {
    const most = mostOf(target, this.#options);
    if (this.#isOne || this.#waiting < mostWaiting) return most;
    return Math.min(most, Math.max(mostWaitingFailing, Math.floor(mostWaiting / this.#targets.size)));
  }

  #newTarget(name: string, notice: Notice, now: number): Target {
    const groupName = this.#options.groups?.groupOf(notice) ?? "";
    const group = this.#groups.get(groupName) ?? { all: 0, failing: 0 };
    this.#groups.set(groupName, group);
    const pause = { pausedAt: 0, pausedUntil: 0 };
    const back = { backAt: now, backCount: 0, gapMs: leastGapMs, taken: 0, since: now };
    return { name, group, groupName, waiting: new Turns(), running: 0, failing: false, ...pause, ...back };
  }

  #mayBegin(target: Target, now: number): boolean {
    const { waiting, running, failing, group } = target;
    const { parallel, perTarget, perFailing, groups } = this.#options;
    if (waiting.size === 0 || isPaused(target, now) || running >= (failing ? perFailing : perTarget)) return false;
    const most = groups?.most ?? parallel;
    if (!failing) return group.all < most;
    return group.failing < half(most, perFailing) && this.#lane.failing < half(parallel, perFailing);
  }

  #count(target: Target, count: number): void {
    target.running += count;
    for (const underWay of [target.group, this.#lane]) {
      underWay.all += count;
      if (target.failing) underWay.failing += count;
    }
  }

  #mark(target: Target, failing: boolean): void {
    target.failing = failing;
    for (const underWay of [target.group, this.#lane]) underWay.failing += failing ? target.running : -target.running;
  }

  #forget(target: Target, paused: boolean): void {
    const { waiting, running, failing } = target;
    if (waiting.size > 0 || running > 0) return;
    if (!failing && !paused) this.#delete(target);
    if (this.#targets.size <= mostRemembered) return;
    const oldest = this.#targets.values().find((other) => other.waiting.size === 0 && other.running === 0);
    if (oldest !== undefined) this.#delete(oldest);
  }

  #delete({ name, groupName }: Target): void {
    this.#targets.delete(name);
    for (const { groupName: other } of this.#targets.values()) if (other === groupName) return;
    this.#groups.delete(groupName);
  }
}

/**
 * A pause that began in the future is over: the wall clock was ahead and was set back. Otherwise the pause would last
 * for as long as the clock was ahead.
 */
function isPaused({ pausedAt, pausedUntil }: Target, now: number): boolean {
  return pausedAt <= now && now < pausedUntil;
}

/** What targets that failed may have of it. */
function half(most: number, least: number): number {
  return Math.max(least, Math.floor(most / 2));
}

/**
 * How many may wait for a target in memory. Where it is the only one, the lane takes no more of each account than its
 * share.
 */
function mostOf({ failing }: Target, { targetOf }: TargetOptions): number {
  if (targetOf === undefined) return Number.POSITIVE_INFINITY;
  return failing ? mostWaitingFailing : mostWaitingOfOne;
}

/** Until when the notices of a target that found no room wait in the store. */
function sendBack(target: Target, now: number, count: number): number {
  const pauseMs = target.failing ? crowdedFailingMs : crowdedMs;
  // A wall clock may be set back.
  if (Math.abs(now - target.since) >= pauseMs) {
    const gapMs = (groupSize * pauseMs) / (2 * target.taken);
    target.gapMs = target.failing ? failingGapMs : Math.min(mostGapMs, Math.max(leastGapMs, gapMs));
    target.taken = 0;
    target.since = now;
  }
  const first = isPaused(target, now) ? target.pausedUntil : now + pauseMs;
  const last = first + mostLaterMs;
  const full = target.backCount >= groupSize;
  const at = Math.min(last, Math.max(first, full ? target.backAt + target.gapMs : target.backAt));
  if (at !== target.backAt) target.backCount = 0;
  target.backAt = at;
  target.backCount += count;
  return at;
}
