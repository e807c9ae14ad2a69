import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../ports/clock.ts";
import type { FollowedDevice } from "./followed-device.ts";

/**
 * Of the time between two slices, the next one has this share, and more the more waits: all that may wait has as much
 * time as everything else.
 */
const share = 0.1;
/**
 * A slice may take no less, so that an idle process folds at once, and no more, ms. What one overran, the next ones
 * owe.
 */
const leastMs = 0.1;
const mostMs = 5;
const mostOwedMs = 100;

/** What rounds work with. */
export interface RoundsDeps {
  readonly clock: Clock;
  /** Folds some of what waits of a device. Whether more waits, for another turn. */
  readonly fold: (device: FollowedDevice) => boolean;
  /** How much of what may wait does, 0 to 1. */
  readonly fullness: () => number;
}

/**
 * Devices with new records that wait to be folded, behind the answers to their trackers: in short slices, between which
 * everything else goes on. Accounts take turns, and so do the devices of each.
 */
export class Rounds {
  readonly #deps: RoundsDeps;
  /** The account that had a turn last is last, and so is its device. */
  readonly #accounts = new Map<number, Set<FollowedDevice>>();
  #next: NodeJS.Immediate | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  /** For how long turns may go on, ms. Below 0: the last one took longer than it should. */
  #allowedMs = 0;

  constructor(deps: RoundsDeps) {
    this.#deps = deps;
  }

  add(device: FollowedDevice): void {
    this.#add(device, device.known?.accountKey ?? 0);
    this.#next ??= setImmediate(() => this.#slice());
  }

  #add(device: FollowedDevice, account: number): void {
    const devices = this.#accounts.get(account);
    if (devices === undefined) this.#accounts.set(account, new Set([device]));
    else devices.add(device);
  }

  #slice(): void {
    const { clock, fullness } = this.#deps;
    const began = clock.monotonic();
    const gained = Math.max((began - this.#endedAt) * (share + fullness()), leastMs);
    this.#allowedMs = Math.min(Math.max(this.#allowedMs, -mostOwedMs) + gained, mostMs);
    this.#endedAt = began;
    try {
      while (this.#accounts.size > 0 && this.#allowedMs > 0) {
        this.#turn();
        const now = clock.monotonic();
        this.#allowedMs -= now - this.#endedAt;
        this.#endedAt = now;
      }
    } finally {
      this.#next = this.#accounts.size > 0 ? setImmediate(() => this.#slice()) : undefined;
    }
  }

  #turn(): void {
    const [account, devices = new Set<FollowedDevice>()] = this.#accounts.entries().next().value ?? [];
    const [device] = devices;
    if (account === undefined || device === undefined) return;
    devices.delete(device);
    this.#accounts.delete(account);
    if (devices.size > 0) this.#accounts.set(account, devices);
    if (this.#deps.fold(device)) this.#add(device, account);
  }

  /** Folds the records that wait of these devices, until none waits or `ms` have passed. */
  async all(devices: readonly FollowedDevice[], ms: number): Promise<void> {
    const { clock, fold } = this.#deps;
    let began = clock.monotonic();
    const until = began + ms;
    for (const device of devices)
      for (let more = true; more && clock.monotonic() < until; ) {
        more = fold(device);
        if (clock.monotonic() < began + mostMs) continue;
        await nextTurn();
        began = clock.monotonic();
      }
  }

  stop(): void {
    clearImmediate(this.#next);
    this.#accounts.clear();
  }
}
