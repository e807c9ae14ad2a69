import type { Alert, AlertEnd } from "../model/alert.ts";
import type { DeviceKey } from "../model/device.ts";
import type { DeviceHead } from "../model/follow.ts";
import { locationJson } from "../model/location-json.ts";
import type { NewNotice } from "../model/notice.ts";
import type { AlertOutcome, WatchedDevice } from "../ports/alert-engine.ts";
import type { FollowCommit, FreshRecord } from "../ports/follow.ts";
import type { Latest } from "../ports/last-location.ts";
import { type DeviceFold, withLate } from "./device-fold.ts";
import { lastOf } from "./standing.ts";

/** Memory of a device without the texts of its head, and of a record without its text, bytes. */
const deviceBytes = 2000;
const recordBytes = 400;

/** Memory that a record takes while it waits (an estimate). */
function bytesOfRecord({ extras }: FreshRecord): number {
  return recordBytes + 3 * extras.length;
}

/** The memory of some. */
export function bytesOfRecords(records: readonly FreshRecord[]): number {
  return records.reduce((sum, record) => sum + bytesOfRecord(record), 0);
}

/** A device in memory, with what of it is not committed. */
export class FollowedDevice {
  readonly key: DeviceKey;
  /** As it was when it reported last. Undefined: nobody has asked since the start, or it was changed since. */
  #device: WatchedDevice | undefined;
  /** As it was when it was last known: an older name is better than none for what is told of it. */
  known: WatchedDevice | undefined;
  /** Undefined: its head was not read yet. */
  fold: DeviceFold | undefined;
  /** What came and is not folded yet. */
  waiting: FreshRecord[] = [];
  waitingBytes = 0;
  /** The appends that brought it, and how many records of each wait. */
  #places: { readonly place: number; count: number }[] = [];
  /** What late records count as until they are folded, and what comes meanwhile. */
  behindBytes = 0;
  /** What of both `Lag` has counted. */
  lagBytes = 0;
  /** Event times of what came that is to be read from the store: while too much waited, or to another process. */
  unread: { readonly from: number; readonly to: number } | undefined;
  /** Event times of what is being read of that. */
  reading: { readonly from: number; readonly to: number } | undefined;
  /** Some of what was unread is read, and the rest is unread still: it comes before all that is newer. */
  isCatchingUp = false;
  /** Late records are being folded in their places. Resolves when that is over. */
  refolding: Promise<void> | undefined;
  /** So many that need it without a refold are at work: see `Keeping`. */
  holds = 0;
  /** It is gone, or another process follows it: nothing here counts any more. */
  left = false;
  /** How often in a row that failed. */
  failures = 0;
  /** Grows with each change. */
  version = 0;
  alerts: readonly Alert[] = [];
  notices: readonly NewNotice[] = [];
  ended: readonly AlertEnd[] = [];
  #last: { readonly version: number; readonly odometerStart: number; readonly latest: Latest } | undefined;

  constructor(key: DeviceKey) {
    this.key = key;
  }

  /** Its head is read, and nothing else of it is to be read. */
  get isLoaded(): boolean {
    return this.fold !== undefined && this.unread === undefined && this.reading === undefined;
  }

  /** Everything that came is in the head, or noted there as late. */
  get isRead(): boolean {
    return this.isLoaded && this.waiting.length === 0;
  }

  /** What is folded may be committed, also of a backlog, whose alerts and days wait for no end of it. */
  get canCommit(): boolean {
    return this.isLoaded || (this.isCatchingUp && this.fold !== undefined);
  }

  /** The head. What is not in it yet counts as late. */
  get head(): DeviceHead | undefined {
    const { fold, isRead, unread, reading, waiting } = this;
    if (fold === undefined || isRead) return fold?.head;
    const came = waiting.map(({ time }) => ({ from: time, to: time }));
    return withLate(fold.head, [unread, reading, ...came]);
  }

  get device(): WatchedDevice | undefined {
    return this.#device;
  }

  set device(device: WatchedDevice | undefined) {
    this.#device = device;
    this.known = device ?? this.known;
  }

  /** Everything that came is in the head. */
  get isCurrent(): boolean {
    return this.fold !== undefined && this.waiting.length === 0 && this.refolding === undefined;
  }

  /** An estimate. */
  get bytes(): number {
    const { extras = 0, rules = 0 } = this.fold?.textLength ?? {};
    return deviceBytes + 4 * extras + rules + this.waitingBytes;
  }

  /** Something of these event times came that is to be read. */
  addUnread({ from, to }: { readonly from: number; readonly to: number }): void {
    const { unread } = this;
    this.unread = { from: Math.min(from, unread?.from ?? from), to: Math.max(to, unread?.to ?? to) };
  }

  /** What waits of this time and later is read from the store, behind what is older. */
  putToUnread(from: number): void {
    const kept = this.waiting.filter(({ time }) => time < from);
    for (const { time } of this.waiting) if (time >= from) this.addUnread({ from: time, to: time });
    const { waitingFrom = Number.NEGATIVE_INFINITY } = this;
    this.waiting = kept;
    this.waitingBytes = bytesOfRecords(kept);
    this.#places = kept.length === 0 ? [] : [{ place: waitingFrom, count: kept.length }];
  }

  /** The append that brought the first of what waits. `-Infinity`: that was read from the store. */
  get waitingFrom(): number | undefined {
    return this.#places[0]?.place;
  }

  /** What is unread is folded in its place, as if it were late. */
  markUnread(): void {
    if (this.unread !== undefined) this.fold?.mark(this.unread.from, this.unread.to);
    this.unread = undefined;
    this.isCatchingUp = false;
  }

  beginReading(): void {
    this.reading = this.unread;
    this.unread = undefined;
  }

  endReading(): void {
    this.reading = undefined;
    // The head may have passed what was the rest.
    if (this.unread === undefined) this.isCatchingUp = false;
  }

  /** Keeps what an append brought until it is folded; beyond `room` bytes it is read from the store. */
  wait(records: readonly FreshRecord[], room: number, place: number): void {
    const { waiting } = this;
    const before = waiting.length;
    for (const record of records) {
      const bytes = bytesOfRecord(record);
      if (this.waitingBytes + bytes > room && waiting.length > 0) {
        this.addUnread({ from: record.time, to: record.time });
      } else {
        waiting.push(record);
        this.waitingBytes += bytes;
      }
    }
    if (waiting.length > before) this.#places.push({ place, count: waiting.length - before });
  }

  /** These were read from the store: they come behind what waits and is older, and before all else. */
  waitRead(records: readonly FreshRecord[], from: number): void {
    const older = this.waiting.filter(({ time }) => time < from);
    this.waiting = [...older, ...records, ...this.waiting.filter(({ time }) => time >= from)];
    this.#places = this.waiting.length === 0 ? [] : [{ place: Number.NEGATIVE_INFINITY, count: this.waiting.length }];
  }

  /** Takes the first of the records that wait, up to `most`, to fold them now. */
  takeWaiting(most: number): readonly FreshRecord[] {
    const taken = this.waiting.length <= most ? this.waiting : this.waiting.slice(0, most);
    this.waiting = taken === this.waiting ? [] : this.waiting.slice(most);
    for (let left = taken.length; left > 0; ) {
      const [first] = this.#places;
      if (first === undefined) break;
      const count = Math.min(first.count, left);
      left -= count;
      first.count -= count;
      if (first.count === 0) this.#places.shift();
    }
    this.waitingBytes = this.waiting.length === 0 ? 0 : this.waitingBytes - bytesOfRecords(taken);
    return taken;
  }

  /** Takes what rules found, to be committed. */
  found({ alerts, notices, ended }: AlertOutcome): void {
    if (alerts.length > 0) this.alerts = [...this.alerts, ...alerts];
    if (notices.length > 0) this.notices = [...this.notices, ...notices];
    if (ended.length > 0) this.ended = [...this.ended, ...ended];
  }

  /** What is to be committed; undefined: there is no head, or something before what waits is to be read. */
  get commit(): FollowCommit | undefined {
    if (this.fold === undefined || !this.canCommit) return undefined;
    const { alerts, notices, ended } = this;
    return { device: this.key, head: this.fold.head, days: this.fold.days, alerts, notices, ended };
  }

  /** This is committed. */
  committed({ days, alerts = [], notices = [], ended = [] }: FollowCommit): void {
    this.fold?.committed(days);
    this.alerts = this.alerts.slice(alerts.length);
    this.notices = this.notices.slice(notices.length);
    this.ended = this.ended.slice(ended.length);
  }

  /** What it reported last, as the API shows it. */
  latest(odometerStart: number): Latest {
    const known = this.#last;
    if (known?.version === this.version && known.odometerStart === odometerStart) return known.latest;
    const head = this.fold?.head;
    const last = head && lastOf(head);
    const latest = {
      json: last && locationJson(last, odometerStart),
      position: last,
      receivedAt: head?.newest?.receivedAt,
    };
    this.#last = { version: this.version, odometerStart, latest };
    return latest;
  }
}
