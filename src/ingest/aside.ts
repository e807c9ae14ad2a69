import type { RefusedReport, SetAsideCause } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";
import type { Admitted } from "../ports/intake.ts";
import type { SetAside } from "../ports/set-aside.ts";
import { StoreUnavailable } from "../ports/store.ts";
import type { Draft } from "./draft.ts";
import { bytesOf, PendingDevice } from "./pending.ts";

/** Bytes of reports kept of one device (one report, however long), and of all: trackers keep the rest, since nothing of it is acknowledged. */
const mostOfDevice = 64 * 1024;
const mostOfAll = 8 * 1024 * 1024;
/** Devices at a time. More than that are no culprits: then it is the store. */
const mostDevices = 10_000;
/** What a device takes beside its reports, bytes. */
const entryBytes = 1024;
/** Pauses between the tries of a device: doubled with each, ms. */
const firstPauseMs = 1000;
const longestPauseMs = 300_000;
/** So many times as long as a try took, no other one is made: all of them together take a tenth of the store's time. */
const restTimes = 9;

/** A report that is set aside. `alone`: others of its device were stored, it was not. */
interface Item {
  readonly report: Draft | RefusedReport;
  readonly bytes: number;
  alone: boolean;
}

/** A device some of whose reports are set aside. */
class Entry {
  device: Admitted;
  items: Item[] = [];
  bytes = entryBytes;
  left = 0;
  tries = 0;
  cause: SetAsideCause = "defect";
  readonly since: number;
  /** Its other reports are not even tried with those of other devices. */
  blocks = true;
  /** When the next try is due, on the clock that never goes back. */
  dueAt = 0;
  /** So many of its reports are tried together. */
  size = Number.POSITIVE_INFINITY;

  constructor(device: Admitted, since: number) {
    this.device = device;
    this.since = since;
  }
}

/** Reports of one device that are to be tried by themselves. */
export interface Trial {
  readonly pending: PendingDevice;
  readonly startedAt: number;
  readonly entry: Entry;
  readonly items: readonly Item[];
}

/**
 * What the store can't take though it takes others' reports. A device is tried by itself, with a growing pause: all of its reports, then half of them, down to one. Once some
 * of them are stored, the device takes part again with what it reports next, and only those that fail alone stay behind.
 */
export class Aside {
  readonly #clock: Clock;
  readonly #entries = new Map<DeviceKey, Entry>();
  #bytes = 0;
  #restUntil = 0;
  /** Nothing is due before. */
  #lookAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Devices of which something is set aside. */
  get size(): number {
    return this.#entries.size;
  }

  /** Accounts that these are of. */
  get accounts(): number {
    return new Set(Array.from(this.#entries.values(), ({ device }) => device.accountKey)).size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether nothing of a device is to be tried with others. */
  holds(device: DeviceKey): boolean {
    return this.#entries.size > 0 && this.#entries.get(device)?.blocks === true;
  }

  of(device: DeviceKey): SetAside | undefined {
    const entry = this.#entries.get(device);
    if (entry === undefined) return undefined;
    const { since, cause, items, left, tries } = entry;
    return { since, cause, kept: items.length, left, tries };
  }

  /** Keeps what there is room for, in the order in which it came. `error`: undefined where it was not tried, since the device is set aside already. */
  put({ device, drafts, refused }: PendingDevice, error?: unknown): void {
    const entry = this.#entryOf(device);
    entry.device = device;
    if (error !== undefined) {
      entry.cause = causeOf(error);
      entry.blocks = true;
      entry.size = Number.POSITIVE_INFINITY;
      this.#pause(entry);
    }
    for (const report of drafts) this.#keep(entry, { report, bytes: bytesOf(report, true), alone: false });
    for (const report of refused) this.#keep(entry, { report, bytes: report.report.length, alone: false });
  }

  /** What is to be tried now; undefined: nothing. */
  trial(): Trial | undefined {
    const now = this.#clock.monotonic();
    if (this.#entries.size === 0 || now < this.#lookAt) return undefined;
    this.#release(now);
    const entry = this.#next();
    this.#lookAt = Math.max(entry?.dueAt ?? 0, this.#restUntil);
    if (entry === undefined || this.#lookAt > now) return undefined;
    const fresh = entry.items.filter(({ alone }) => !alone);
    const items = fresh.length > 0 ? fresh.slice(0, entry.size) : entry.items.slice(0, 1);
    const pending = new PendingDevice(entry.device);
    // A postponed trial would count as stored.
    pending.mayBePostponed = false;
    for (const { report } of items) {
      if ("cause" in report) pending.refused.push(report);
      else pending.drafts.push(report);
    }
    return { pending, startedAt: now, entry, items };
  }

  /** Milliseconds until something is to be tried; undefined: nothing is set aside. */
  get dueIn(): number | undefined {
    const next = this.#next();
    return next && Math.max(0, Math.max(next.dueAt, this.#restUntil) - this.#clock.monotonic());
  }

  /** A trial is on disk, or its device is gone. The device takes part again. */
  stored({ entry, items, startedAt }: Trial): void {
    const done = new Set(items);
    this.#remove(entry, done);
    this.#rest(startedAt);
    entry.blocks = false;
    entry.size = Number.POSITIVE_INFINITY;
    entry.dueAt = entry.items.some(({ alone }) => !alone) ? 0 : this.#clock.monotonic() + longestPauseMs;
    if (entry.items.length === 0) this.#drop(entry);
  }

  /** A trial failed again. */
  failed({ entry, items, startedAt }: Trial, error: unknown): void {
    this.#rest(startedAt);
    entry.cause = causeOf(error);
    if (items.length > 1) {
      // Half of them next, and soon: what is too large together may do in parts.
      entry.size = Math.ceil(items.length / 2);
      return;
    }
    const [only] = items;
    if (only !== undefined) {
      only.alone ||= !entry.blocks;
      entry.items = [...entry.items.filter((item) => item !== only), only];
    }
    if (!entry.blocks && entry.items.some(({ alone }) => !alone)) entry.size = Number.POSITIVE_INFINITY;
    this.#pause(entry);
  }

  /** Devices of which nothing could be kept can't be tried by themselves: with what they report next they take part again, and are remembered for as long as the longest pause. */
  #release(now: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.items.length > 0 || entry.dueAt > now) continue;
      if (!entry.blocks) this.#drop(entry);
      entry.blocks = false;
      entry.dueAt = now + longestPauseMs;
    }
  }

  #next(): Entry | undefined {
    let next: Entry | undefined;
    for (const entry of this.#entries.values()) if (next === undefined || entry.dueAt < next.dueAt) next = entry;
    return next;
  }

  #entryOf(device: Admitted): Entry {
    const known = this.#entries.get(device.key);
    if (known !== undefined) return known;
    if (this.#entries.size >= mostDevices) for (const oldest of this.#entries.values()) if (this.#drop(oldest)) break;
    const made = new Entry(device, this.#clock.now());
    this.#entries.set(device.key, made);
    this.#bytes += entryBytes;
    return made;
  }

  #keep(entry: Entry, item: Item): void {
    const full = entry.items.length > 0 && entry.bytes + item.bytes > mostOfDevice;
    if (full || this.#bytes + item.bytes > mostOfAll) {
      entry.left++;
      return;
    }
    entry.items.push(item);
    entry.bytes += item.bytes;
    this.#bytes += item.bytes;
  }

  #remove(entry: Entry, items: ReadonlySet<Item>): void {
    for (const { bytes } of items) {
      entry.bytes -= bytes;
      this.#bytes -= bytes;
    }
    entry.items = entry.items.filter((item) => !items.has(item));
  }

  #drop(entry: Entry): boolean {
    this.#bytes -= entry.bytes;
    return this.#entries.delete(entry.device.key);
  }

  #pause(entry: Entry): void {
    entry.dueAt = this.#clock.monotonic() + Math.min(firstPauseMs * 2 ** entry.tries, longestPauseMs);
    this.#lookAt = 0;
    entry.tries++;
  }

  #rest(startedAt: number): void {
    const now = this.#clock.monotonic();
    this.#restUntil = now + (now - startedAt) * restTimes;
    this.#lookAt = 0;
  }
}

function causeOf(error: unknown): SetAsideCause {
  if (!(error instanceof StoreUnavailable)) return "defect";
  return error.trouble === "damaged" ? "damaged" : "tooLarge";
}
