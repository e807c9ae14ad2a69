import { stepOf } from "../fold/step.ts";
import type { UnfollowedSpan } from "../model/follow.ts";
import { observationOf } from "../model/observation.ts";
import type { SaidRecord } from "../model/said.ts";
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
  readonly log: Log;
}

/**
 * Reads what was appended and nobody here knows of: its first records are taken as if they had just come. What is left
 * of them, and what is older than the head, counts as late.
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

  async #readSome(devices: readonly FollowedDevice[]): Promise<void> {
    for (const device of devices) device.beginReading();
    try {
      for (const device of devices) if (device.device === undefined) await this.#register(device);
      const asked = devices.filter((device) => markOlder(device));
      const pages = await this.#deps.read(
        asked.flatMap(({ key, reading }) => (reading ? [{ device: key, ...reading }] : [])),
      );
      for (const [at, device] of asked.entries()) take(device, pages[at]);
    } catch (error) {
      await this.#failed(devices, error);
    } finally {
      for (const device of devices) device.reading = undefined;
    }
  }

  async #failed(devices: readonly FollowedDevice[], error: unknown): Promise<void> {
    const [only] = devices;
    if (!isDown(error) && devices.length === 1 && only?.reading !== undefined) {
      only.fold?.mark(only.reading.from, only.reading.to);
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

/** What is older than the head is read when it is folded in its place. Whether there is more to read. */
function markOlder(device: FollowedDevice): boolean {
  const { fold, reading } = device;
  const time = fold?.time;
  if (reading === undefined || time === undefined || reading.from >= time) return reading !== undefined;
  fold?.mark(reading.from, Math.min(time, reading.to));
  device.reading = { from: time, to: Math.max(time, reading.to) };
  return reading.to >= time;
}

function take(device: FollowedDevice, page: PositionPage | undefined): void {
  const { fold, reading } = device;
  if (reading === undefined) return;
  const last = page?.records.at(-1)?.time;
  if (page === undefined || page.unreadable.length > 0) fold?.mark(reading.from, reading.to);
  else {
    device.waiting = [...page.records.map(freshOf), ...device.waiting];
    if (page.next !== undefined && last !== undefined) fold?.mark(last, reading.to);
  }
}

/** Whether it fails for all devices. */
export function isDown(error: unknown): boolean {
  return error instanceof StoreUnavailable && error.trouble === "down";
}

/** A stored record as if it had just come. */
function freshOf(record: SaidRecord): FreshRecord {
  return { ...observationOf(record), ...stepOf(record), ...record, speed: record.speed, course: record.course };
}
