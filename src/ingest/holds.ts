import type { DeviceCommit } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";

/**
 * A commit that had to change many stored records takes long, and every device waits for it. The device that caused it waits that many times as long
 * before its next commit, so that one tracker can take a tenth of the store's time and not all of it.
 */
const heldTimes = 9;
/** Fewer of them cost little: some microseconds each. */
const manyPatches = 256;
/** Shorter commits hold up nobody. */
const longCommitMs = 20;
/** No commit or plan takes longer by itself, ms: beyond it a disk stood still, for which no device is held back. */
const mostOwnMs = 2000;

/** Which devices wait before their next commit, since their last one held up the others. */
export class Holds {
  readonly #clock: Clock;
  /** Until when, on the clock that never goes back. */
  readonly #until = new Map<DeviceKey, number>();
  /** When the last of those has had its turn that are slow to plan. */
  #slowUntil = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether any device may be held back. */
  get some(): boolean {
    return this.#until.size > 0;
  }

  has(device: DeviceKey, now = this.#clock.monotonic()): boolean {
    return (this.#until.get(device) ?? 0) > now;
  }

  /** Holds back the devices that made a commit long. */
  committed(commits: readonly DeviceCommit[], ms: number): void {
    if (ms < longCommitMs) return;
    const until = this.#clock.monotonic() + Math.min(ms, mostOwnMs) * heldTimes;
    for (const { device, patches } of commits) if (patches.length > manyPatches) this.#hold(device, until);
  }

  /** Holds back devices that are slow to plan, one behind the other: all of them together take a tenth of the time. */
  planned(devices: readonly DeviceKey[], ms: number): void {
    const each = (Math.min(ms, mostOwnMs) / devices.length) * heldTimes;
    for (const device of devices) {
      this.#slowUntil = Math.max(this.#slowUntil, this.#clock.monotonic()) + each;
      this.#hold(device, this.#slowUntil);
    }
  }

  /** Forgets those whose time is over. */
  release(now: number): void {
    for (const [device, until] of this.#until) if (until <= now) this.#until.delete(device);
  }

  /** One reason to wait does not shorten another. */
  #hold(device: DeviceKey, until: number): void {
    this.#until.set(device, Math.max(until, this.#until.get(device) ?? 0));
  }
}
