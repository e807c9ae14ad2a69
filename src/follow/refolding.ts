import type { ReviewOutcome, WatchedDevice } from "../ports/alert-engine.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { FollowedDevice } from "./followed-device.ts";
import { Pace } from "./pace.ts";
import { type RefoldReads, refoldTurn } from "./refold-turn.ts";
import { isDown } from "./unread.ts";

/**
 * Pauses after a failure, ms: doubled each time. Of a device whose turns fail, and of all of them while the store is
 * down.
 */
const firstPauseMs = 1000;
const longestPauseMs = 300_000;
const longestDownMs = 30_000;

/** What refolding works with. */
export interface RefoldingDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The device as it is registered; undefined: it is gone. */
  readonly registered: (device: FollowedDevice) => Promise<WatchedDevice | undefined>;
  /** Makes its rules ready, and commits its ended days, so that the store has them. */
  readonly prepare: (device: FollowedDevice) => Promise<void>;
  readonly readsOf: (device: FollowedDevice, registered: WatchedDevice) => RefoldReads;
  /** The device is gone: nothing of it is needed any more. */
  readonly gone: (device: FollowedDevice) => void;
  /** A turn is over: what waited meanwhile is to be taken. `isDone`: false: the store was down. */
  readonly over: (device: FollowedDevice, outcome: ReviewOutcome | undefined, isDone: boolean) => void;
}

/** Gives devices with late records their turns, one at a time. */
export class Refolding {
  readonly #deps: RefoldingDeps;
  readonly #pace = new Pace();
  readonly #devices = new Map<number, FollowedDevice>();
  /** Since when devices have late records, in that order. */
  readonly #since = new Map<FollowedDevice, number>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  /** How often in a row a turn found the store down, and until when nobody has another one. */
  #downs = 0;
  #downUntil = Number.NEGATIVE_INFINITY;
  #isStopping = false;

  constructor(deps: RefoldingDeps) {
    this.#deps = deps;
  }

  /** Devices that wait for a turn, or have it. */
  get behind(): number {
    return this.#pace.behind + (this.#running === undefined ? 0 : 1);
  }

  /** For how long the first of them has had late records, ms. */
  get lateMs(): number {
    for (const since of this.#since.values()) return this.#deps.clock.monotonic() - since;
    return 0;
  }

  has(device: FollowedDevice): boolean {
    return this.#devices.has(device.key);
  }

  /** A device has late records. */
  late(device: FollowedDevice): void {
    if (this.#isStopping || device.left) return;
    this.#devices.set(device.key, device);
    const now = this.#deps.clock.monotonic();
    if (!this.#since.has(device)) this.#since.set(device, now);
    const after = pauseOf(device.failures, longestPauseMs);
    const due = this.#pace.late(device.key, device.known?.accountKey ?? 0, now + after);
    // Most of what is late has its turn already: a report of it looks at no other device.
    if (due !== undefined) this.#wakeAt(due);
  }

  /** A device is gone, or another process follows it. */
  drop(device: FollowedDevice): void {
    this.#since.delete(device);
    if (this.#devices.get(device.key) === device) this.#devices.delete(device.key);
  }

  #plan(): void {
    const due = this.#pace.dueAt();
    if (due !== undefined) this.#wakeAt(due);
  }

  #wakeAt(due: number): void {
    const at = Math.max(due, this.#downUntil);
    if (this.#running !== undefined || this.#isStopping || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#begin(), Math.max(0, at - this.#deps.clock.monotonic())).unref();
  }

  #begin(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    this.#running ??= this.#next().finally(() => {
      this.#running = undefined;
      this.#plan();
    });
  }

  async #next(): Promise<void> {
    const { clock } = this.#deps;
    const key = this.#pace.next(clock.monotonic());
    const device = key === undefined ? undefined : this.#devices.get(key);
    if (key === undefined || device === undefined) return;
    this.#devices.delete(key);
    // What is read of a long rest belongs to the head, and does not wait for the end of a turn.
    if (device.holds > 0 || device.isCatchingUp) {
      this.late(device);
      return;
    }
    const began = clock.monotonic();
    const turn = this.#turn(device);
    device.refolding = turn.then(() => undefined);
    let isGone = false;
    try {
      isGone = await turn;
    } finally {
      this.#pace.took(key, clock.monotonic() - began, clock.monotonic());
    }
    if (isGone || device.left || device.fold?.isLate !== true) this.#since.delete(device);
    if (isGone) this.#deps.gone(device);
    else if (device.fold?.isLate === true) this.late(device);
  }

  /** Whether the device is gone: then it never has another turn. */
  async #turn(device: FollowedDevice): Promise<boolean> {
    let outcome: ReviewOutcome | undefined;
    let isDone = true;
    try {
      const registered = await this.#deps.registered(device);
      if (registered === undefined || device.fold === undefined) return registered === undefined;
      // What was late may be deleted.
      if (!device.fold.isLate) return false;
      await this.#deps.prepare(device);
      outcome = await refoldTurn(device.fold, this.#deps.readsOf(device, registered));
      device.failures = 0;
      this.#downs = 0;
    } catch (error) {
      isDone = !isDown(error);
      if (!device.left) this.#failed(device, error);
    } finally {
      device.refolding = undefined;
      this.#deps.over(device, outcome, isDone);
    }
    return false;
  }

  #failed(device: FollowedDevice, error: unknown): void {
    const { clock, log } = this.#deps;
    if (isDown(error)) {
      // All others would fail, too.
      const pauseMs = pauseOf(++this.#downs, longestDownMs);
      this.#downUntil = clock.monotonic() + pauseMs;
      log.warn({ error, behind: this.behind, pauseMs }, "late positions can't be folded; trying again");
    } else if (device.failures++ === 0)
      log.error({ error, device: device.key }, "late positions of a device can't be folded; trying again");
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    await this.#running;
  }
}

function pauseOf(failures: number, longest: number): number {
  return failures === 0 ? 0 : Math.min(firstPauseMs * 2 ** (failures - 1), longest);
}
