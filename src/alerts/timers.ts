import type { DeviceKey } from "../model/device.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";

/** Timers fire to the second. */
const tickMs = 1000;
/** What is due later is looked at again in an hour: so no timer is far away, however the clock is set. */
const farthestMs = 3_600_000;
/** A device that was told due is told again if nothing has been committed for it meanwhile. */
const againMs = 30_000;
/** Devices told due at a time, with room for other work between. */
const slice = 500;

/** When time alone may change something for a device, by our clock. */
export interface Due {
  /** Whatever is heard of it; Infinity: never. */
  readonly at: number;
  /** So long after it was heard of for the last time, ms; Infinity: never. */
  readonly quietMs: number;
  /** That it was not heard of stands raised: hearing of it is something to look at. */
  readonly silent: boolean;
}

interface Entry {
  device: WatchedDevice;
  due: Due;
  heardAt: number;
  /** Which standing of the device it was set by: an older one, read meanwhile, does not count. */
  turn: number;
  /** The bucket that it is looked at in; those before it hold nothing of it that counts. */
  bucket: number;
}

/**
 * Who is to be looked at when. Setting a timer moves nothing unless it comes earlier: it is looked lazily, when its
 * second comes, whether it is due by then. So a device that reports each second costs two comparisons a report, and
 * 100,000 that wait ten minutes some 170 looks a second.
 */
export class Timers {
  readonly #onDue: (devices: readonly WatchedDevice[]) => void;
  readonly #entries = new Map<DeviceKey, Entry>();
  readonly #buckets = new Map<number, DeviceKey[]>();
  /** The last bucket that was looked at. */
  #done = 0;

  constructor(onDue: (devices: readonly WatchedDevice[]) => void) {
    this.#onDue = onDue;
  }

  /** Devices with a timer. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether a device has a timer that was set at that turn or later. */
  has(device: DeviceKey, turn = 0): boolean {
    const entry = this.#entries.get(device);
    return entry !== undefined && entry.turn >= turn;
  }

  /** When a device was heard of; 0: it has no timer, or never was. */
  heardAt(device: DeviceKey): number {
    return this.#entries.get(device)?.heardAt ?? 0;
  }

  heard(device: DeviceKey, now: number): void {
    const entry = this.#entries.get(device);
    if (entry === undefined) return;
    entry.heardAt = Math.max(entry.heardAt, now);
    if (!entry.due.silent) return;
    entry.due = { ...entry.due, at: Math.min(entry.due.at, now), silent: false };
    this.#file(entry, now);
  }

  /**
   * Sets when a device is due, by how it stood at a turn; later turns have higher numbers. `heardAt`: when it was heard
   * of.
   */
  set(device: WatchedDevice, due: Due, turn: number, heardAt: number, now: number): void {
    let entry = this.#entries.get(device.key);
    if (entry === undefined) {
      if (due.at === Number.POSITIVE_INFINITY && due.quietMs === Number.POSITIVE_INFINITY && !due.silent) return;
      entry = { device, due, heardAt, turn, bucket: Number.POSITIVE_INFINITY };
      this.#entries.set(device.key, entry);
    } else {
      if (turn < entry.turn) return;
      entry.turn = turn;
      entry.device = device;
      entry.due = due;
      entry.heardAt = Math.max(entry.heardAt, heardAt);
    }
    this.#file(entry, now);
  }

  /** Drops the timers of an account's devices but for these. */
  keepOnly(accountKey: number, devices: ReadonlySet<DeviceKey>): void {
    for (const [key, { device }] of this.#entries)
      if (device.accountKey === accountKey && !devices.has(key)) this.#entries.delete(key);
  }

  /** Tells of all that is due. */
  async look(now: number): Promise<void> {
    const last = Math.floor(now / tickMs);
    let due: WatchedDevice[] = [];
    for (const bucket of this.#passed(last)) {
      const devices = this.#buckets.get(bucket) ?? [];
      this.#buckets.delete(bucket);
      for (const key of devices) {
        const entry = this.#entries.get(key);
        // Otherwise it has been set to an earlier one, was looked at there, and stands in a later one again.
        if (entry?.bucket !== bucket) continue;
        entry.bucket = Number.POSITIVE_INFINITY;
        if (momentOf(entry) <= now) {
          due.push(entry.device);
          entry.due = { at: now + againMs, quietMs: Number.POSITIVE_INFINITY, silent: entry.due.silent };
        }
        this.#file(entry, now);
        if (due.length < slice) continue;
        this.#onDue(due);
        due = [];
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    }
    if (due.length > 0) this.#onDue(due);
  }

  /** Buckets whose time has come, in order; all of them, where the clock was set back. */
  #passed(last: number): readonly number[] {
    const span = last - this.#done;
    const back = span < 0;
    const buckets: number[] = [];
    if (!back && span <= this.#buckets.size)
      for (let bucket = this.#done + 1; bucket <= last; bucket++) buckets.push(bucket);
    else for (const bucket of this.#buckets.keys()) if (back || bucket <= last) buckets.push(bucket);
    this.#done = last;
    return buckets.sort((left, right) => left - right);
  }

  #file(entry: Entry, now: number): void {
    const moment = momentOf(entry);
    if (moment === Number.POSITIVE_INFINITY) {
      // A device that is to be heard of keeps its entry; of any other there is nothing to know.
      if (entry.bucket === Number.POSITIVE_INFINITY && !entry.due.silent) this.#entries.delete(entry.device.key);
      return;
    }
    const bucket = Math.max(this.#done + 1, Math.ceil(Math.min(moment, now + farthestMs) / tickMs));
    if (bucket >= entry.bucket) return;
    entry.bucket = bucket;
    const devices = this.#buckets.get(bucket);
    if (devices === undefined) this.#buckets.set(bucket, [entry.device.key]);
    else devices.push(entry.device.key);
  }
}

function momentOf({ due, heardAt }: Entry): number {
  return Math.min(due.at, heardAt + due.quietMs);
}
