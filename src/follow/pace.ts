import type { DeviceKey } from "../model/device.ts";

/** Late records of a device rest so long before they are folded in their places, ms. */
const restMs = 500;
/** A device waits so many times as long as its last catching up took. */
const pauses = 10;
/** All devices together have this share of a processor. */
const share = 0.25;
/** So many devices that are not late are remembered for their pauses. */
const mostRemembered = 10_000;

/**
 * Says which device's late records are folded next. Folding at once would never end under load, and waiting for quiet
 * alone would never begin: each device has a turn when its records have rested for half a second, and again after ten
 * times the time that its last turn took; all turns together take a quarter of a processor. Accounts take turns. Times
 * are ms of a clock that never goes back.
 */
export class Pace {
  /**
   * When each device that is behind is due, in the order in which they fell behind, by account. The account that had a
   * turn last is last.
   */
  readonly #waiting = new Map<number, Map<DeviceKey, number>>();
  /** Devices that are behind: each stands once, in whatever account it was first. */
  readonly #behind = new Set<DeviceKey>();
  /** Until when devices pause, in the order of their last turns. */
  readonly #pauses = new Map<DeviceKey, number>();
  #restsUntil = Number.NEGATIVE_INFINITY;

  /** Devices that are behind. */
  get behind(): number {
    return this.#behind.size;
  }

  /**
   * A device has late records. More of them do not put its turn off. When it is due; undefined: it was behind before.
   */
  late(device: DeviceKey, account: number, now: number): number | undefined {
    if (this.#behind.has(device)) return undefined;
    const own = this.#waiting.get(account) ?? new Map<DeviceKey, number>();
    const dueAt = Math.max(now + restMs, this.#pauses.get(device) ?? 0);
    own.set(device, dueAt);
    this.#waiting.set(account, own);
    this.#behind.add(device);
    return dueAt;
  }

  /**
   * Takes the device whose turn it is: accounts take turns, and of an account's devices that are due, the one that fell
   * behind first has it. Undefined: none is due.
   */
  next(now: number): DeviceKey | undefined {
    if (now < this.#restsUntil) return undefined;
    for (const [account, own] of this.#waiting) {
      for (const [device, dueAt] of own) {
        if (dueAt > now) continue;
        own.delete(device);
        this.#behind.delete(device);
        this.#waiting.delete(account);
        if (own.size > 0) this.#waiting.set(account, own);
        return device;
      }
    }
    return undefined;
  }

  /** A turn is over. It took so long. */
  took(device: DeviceKey, ms: number, now: number): void {
    this.#restsUntil = now + ms * (1 / share - 1);
    this.#pauses.delete(device);
    this.#pauses.set(device, now + pauses * ms);
    const [oldest] = this.#pauses.keys();
    if (this.#pauses.size > mostRemembered && oldest !== undefined) this.#pauses.delete(oldest);
  }

  /** When something is due at the earliest. Undefined: nothing is behind. */
  dueAt(): number | undefined {
    if (this.#behind.size === 0) return undefined;
    let first = Number.POSITIVE_INFINITY;
    for (const own of this.#waiting.values()) for (const dueAt of own.values()) first = Math.min(first, dueAt);
    return Math.max(first, this.#restsUntil);
  }
}
