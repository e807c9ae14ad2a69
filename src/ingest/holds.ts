import type { DeviceKey } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";

/**
 * A commit that had to change many stored records, or to store many alerts, takes long, and every device waits for it. The device that caused it waits that many times as long
 * before its next commit, so that one tracker can take a tenth of the store's time and not all of it.
 */
const heldTimes = 9;
/** Fewer of them cost little: some microseconds each. */
const manyPatches = 256;
/** Alerts, ends of alerts and notices in one device's commit. A usual report with some dozen rules brings fewer. */
const manyAlerts = 50;
/** Shorter commits hold up nobody. */
const longCommitMs = 20;
/** No commit or plan takes longer by itself, ms: beyond it a disk stood still, for which no device is held back. */
const mostOwnMs = 2000;

/** What was committed of a device, as far as it tells how long that took. */
export interface Committed {
  readonly device: { readonly key: DeviceKey; readonly accountKey: number };
  readonly plan: {
    readonly patches: { readonly length: number };
    readonly alerts?: { readonly length: number } | undefined;
    readonly notices?: { readonly length: number } | undefined;
    readonly ended?: { readonly length: number } | undefined;
  };
}

/** If no other account's reports were committed for this time, ms, long commits of alerts keep nobody else waiting. */
const aloneAfterMs = 1000;

/** Which devices wait before their next commit, since their last one held up the others. */
export class Holds {
  readonly #clock: Clock;
  /** Until when, on the clock that never goes back. */
  readonly #until = new Map<DeviceKey, number>();
  /** When the last of those has had its turn that are slow to plan. */
  #slowUntil = 0;
  /** The same of those of each account that alert much. */
  readonly #alertingUntil = new Map<number, number>();
  /** The account of the last commit's last device, and when there was last another one. */
  #account: number | undefined;
  #othersAt = Number.NEGATIVE_INFINITY;

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

  /** Holds back the devices that made a commit long. `planMs`: how long its plans took, in which alerts are found. */
  committed(commits: readonly Committed[], ms: number, planMs = 0): void {
    const now = this.#clock.monotonic();
    for (const { device } of commits) this.#reported(device.accountKey, now);
    if (ms + planMs < longCommitMs) return;
    const alerting: Committed[] = [];
    for (const commit of commits) {
      const { patches, alerts, notices, ended } = commit.plan;
      if (ms >= longCommitMs && patches.length > manyPatches) this.#hold(commit.device.key, now + heldAfter(ms));
      if (lengthOf(alerts) + lengthOf(notices) + lengthOf(ended) > manyAlerts) alerting.push(commit);
    }
    if (now - this.#othersAt > aloneAfterMs) return;
    const each = heldAfter(ms + planMs) / alerting.length;
    // Together, the devices of a fleet would make the next commit as long. So they come back one behind the other.
    for (const { device } of alerting) {
      const { key, accountKey } = device;
      const until = Math.max(this.#alertingUntil.get(accountKey) ?? 0, now) + each;
      this.#alertingUntil.set(accountKey, until);
      this.#hold(key, until);
    }
  }

  #reported(account: number, now: number): void {
    if (this.#account !== account && this.#account !== undefined) this.#othersAt = now;
    this.#account = account;
  }

  /** Holds back devices that are slow to plan, one behind the other: all of them together take a tenth of the time. */
  planned(devices: readonly DeviceKey[], ms: number): void {
    const each = heldAfter(ms) / devices.length;
    for (const device of devices) {
      this.#slowUntil = Math.max(this.#slowUntil, this.#clock.monotonic()) + each;
      this.#hold(device, this.#slowUntil);
    }
  }

  /** Forgets those whose time is over. */
  release(now: number): void {
    for (const [device, until] of this.#until) if (until <= now) this.#until.delete(device);
    for (const [account, until] of this.#alertingUntil) if (until <= now) this.#alertingUntil.delete(account);
  }

  /** One reason to wait does not shorten another. */
  #hold(device: DeviceKey, until: number): void {
    this.#until.set(device, Math.max(until, this.#until.get(device) ?? 0));
  }
}

function lengthOf(list: { readonly length: number } | undefined): number {
  return list?.length ?? 0;
}

/** How long those wait that took `ms`. */
function heldAfter(ms: number): number {
  return Math.min(ms, mostOwnMs) * heldTimes;
}
