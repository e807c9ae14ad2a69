import { stepOf } from "../fold/step.ts";
import type { UnfollowedSpan } from "../model/follow.ts";
import { observationOf, unparsedObservationOf } from "../model/observation.ts";
import type { SaidRecord } from "../model/said.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { FreshRecord } from "../ports/follow.ts";
import type { Log } from "../ports/log.ts";
import type { PositionPage } from "../ports/positions.ts";
import { StoreUnavailable } from "../ports/store.ts";
import type { FollowedDevice } from "./followed-device.ts";

/** Devices of one question. */
const readsAtOnce = 64;

/** What it works with. */
export interface UnreadDeps {
  /** Sets how the device is registered; after a start nobody has told. */
  readonly register: (device: FollowedDevice) => Promise<unknown>;
  /** The first records of spans, and whether there are more. */
  readonly read: (spans: readonly UnfollowedSpan[]) => Promise<readonly PositionPage[]>;
  /** False: no rule watches the device. */
  readonly watches: (device: WatchedDevice) => boolean;
  readonly log: Log;
}

/**
 * Reads what was appended and nobody here knows of: its first records are taken as if they had just come. The rest is
 * unread until the next time, and what came meanwhile goes behind it, so that everything is judged in its order. What
 * is older than the head counts as late.
 */
export class Unread {
  readonly #deps: UnreadDeps;

  constructor(deps: UnreadDeps) {
    this.#deps = deps;
  }

  /** Of devices whose heads were read. Rejects where the store is down. */
  async read(devices: readonly FollowedDevice[]): Promise<void> {
    for (let at = 0; at < devices.length; at += readsAtOnce) await this.#readSome(devices.slice(at, at + readsAtOnce));
  }

  async #readSome(some: readonly FollowedDevice[]): Promise<void> {
    const devices = some.filter((device) => !waitsForRefold(device));
    for (const device of devices) device.beginReading();
    try {
      for (const device of devices) if (device.device === undefined) await this.#register(device);
      const asked = devices.filter((device) => markOlder(device));
      const pages = await this.#deps.read(
        asked.flatMap(({ key, reading }) => (reading ? [{ device: key, ...reading }] : [])),
      );
      for (const [at, device] of asked.entries()) {
        const isWatched = device.device === undefined || this.#deps.watches(device.device);
        take(device, pages[at], isWatched);
      }
    } catch (error) {
      await this.#failed(devices, error);
    } finally {
      for (const device of devices) device.endReading();
    }
  }

  async #failed(devices: readonly FollowedDevice[], error: unknown): Promise<void> {
    const [only] = devices;
    if (!isDown(error) && devices.length === 1 && only?.reading !== undefined) {
      only.fold?.mark(only.reading.from, only.reading.to);
      only.isCatchingUp = false;
      this.#deps.log.error({ error, device: only.key }, "positions of a device that nobody followed can't be read");
      return;
    }
    for (const device of devices) if (device.reading !== undefined) device.addUnread(device.reading);
    if (isDown(error)) throw error;
    for (const device of devices) await this.#readSome([device]);
  }

  async #register(device: FollowedDevice): Promise<void> {
    try {
      await this.#deps.register(device);
    } catch (error) {
      if (isDown(error)) throw error;
      this.#deps.log.error({ error, device: device.key }, "how a device is registered can't be read");
    }
  }
}

/** While late records are folded, all that comes would wait in memory: it is read when they are. */
function waitsForRefold(device: FollowedDevice): boolean {
  const waits = device.fold?.isRefolding === true;
  if (waits) device.putToUnread(Number.NEGATIVE_INFINITY);
  return waits;
}

/** What is older than the head is read when it is folded in its place. Whether there is more to read. */
function markOlder(device: FollowedDevice): boolean {
  const { fold, reading } = device;
  const time = fold?.time;
  if (reading === undefined || time === undefined || reading.from >= time) return reading !== undefined;
  fold?.mark(reading.from, Math.min(time, reading.to));
  device.reading = { from: time, to: Math.max(time, reading.to) };
  return reading.to >= time;
}

function take(device: FollowedDevice, page: PositionPage | undefined, isWatched: boolean): void {
  const { fold, reading } = device;
  if (reading === undefined) return;
  device.isCatchingUp = false;
  if (page === undefined || page.unreadable.length > 0) {
    fold?.mark(reading.from, reading.to);
    return;
  }
  const { records, next } = page;
  if (next !== undefined && next.time > reading.from) {
    // What was read of that moment is read again: repeats are dropped.
    device.addUnread({ from: next.time, to: reading.to });
    device.putToUnread(next.time);
    device.isCatchingUp = true;
  } else if (next !== undefined) {
    // A moment that fills a page would be read again for ever.
    fold?.mark(next.time, reading.to);
  }
  const fresh = records.map((record) => freshOf(record, isWatched));
  device.waitRead(fresh, reading.from);
}

/** Whether it fails for all devices. */
export function isDown(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.trouble === "down";
}

/** A stored record as if it had just come. */
function freshOf(record: SaidRecord, isWatched: boolean): FreshRecord {
  const observation = isWatched ? observationOf(record) : unparsedObservationOf(record);
  return { ...observation, ...stepOf(record), ...record, speed: record.speed, course: record.course };
}
