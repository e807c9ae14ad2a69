import type { RefusedReport } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";
import { effectJson, isTime } from "../model/effect-json.ts";
import type { Report } from "../model/effects.ts";
import type { DeviceState } from "../model/location.ts";
import type { Admitted, Outcome } from "../ports/intake.ts";
import type { PackedContext } from "../ports/store.ts";
import { type Draft, draftOf, onEarth, worthKeeping } from "./draft.ts";
import { eventTime } from "./event-time.ts";
import { soundReport } from "./sound.ts";
import type { PackedStretch } from "./stretches.ts";

/** A part of the history that was asked for before late reports are planned: when they came, or when they needed to see more. While other commits are in flight there is time to read. */
export interface Ahead {
  /** Of the device's state when it was asked for: with another one the history may be another too. */
  readonly version: number;
  readonly time: number;
  readonly limit: number;
  /** How many records it may have in all: `limit`, and those of the stretches. */
  readonly records: number;
  /** Resolves with undefined when it could not be read. */
  readonly context: Promise<PackedContext | undefined>;
  /** Those that could be read further on, where reports lie far apart. */
  readonly stretches: Promise<readonly PackedStretch[]> | undefined;
  /** When it was asked for, by the clock that never goes back. */
  readonly askedAt: number;
  /** The read has ended or failed. */
  arrived: boolean;
}

/** How reports are judged and made ready. */
export interface Judging {
  /** How far ahead of ours a tracker's clock may be, ms. */
  readonly maxFutureMs: number;
  /** See `draftOf`. */
  readonly watched: boolean;
  /** Told of values that can't be kept: see `soundReport`. */
  readonly dropped: (values: number) => void;
}

/** What waits for the next commit of one device. */
export class PendingDevice {
  device: Admitted;
  readonly drafts: Draft[] = [];
  readonly refused: RefusedReport[] = [];
  /** Estimate of the memory that its reports take, bytes. */
  bytes = 0;
  reports = 0;
  ahead: Ahead | undefined;
  /** How many drafts it had when it was last looked at for what is to be read ahead. */
  looked = 0;
  /** All that it held is on disk, or refused: there is nothing left to do. */
  settled = false;
  /** It is what one batch left over: nothing is added to it. */
  isRest = false;
  /** It was postponed, and nothing of it was planned since. */
  wasPostponed = false;
  /** Its late reports may be postponed, so that more of their history is read first. */
  mayBePostponed = true;
  /** How many of its drafts its batch left over. These wait in another `PendingDevice` from then on. */
  left = 0;
  /** How many drafts are from before the device's `keptFrom`. They are not stored. */
  tooOld = 0;
  /** Its batch left all its drafts over, so that more of their history is read first. */
  postponed = false;
  /** When its newest message came, epoch ms: also one of which everything was refused. */
  heardAt = 0;
  /** Newest event time against its arrival, ms; none: no report was believed. */
  newest = Number.NEGATIVE_INFINITY;
  /** When that report came, epoch ms by our clock of then. */
  #newestAt = 0;
  /** Oldest event time of its drafts. */
  oldest = Number.POSITIVE_INFINITY;
  #done: ((outcome: Outcome) => void)[] = [];
  /** Messages with a report from the future. */
  #future: ((outcome: Outcome) => void)[] = [];
  /** When the first of these came, epoch ms by our clock of then. */
  #futureAt = Number.POSITIVE_INFINITY;

  constructor(device: Admitted) {
    this.device = device;
  }

  /** Messages that wait for an answer. */
  get messages(): number {
    return this.#done.length + this.#future.length;
  }

  /** When the report came that tells of our clock, epoch ms by our clock of then: the first one from the future, or else the newest. The others may have come before the clock was set, or after. */
  get toldAt(): number {
    return this.isAhead ? this.#futureAt : this.#newestAt;
  }

  /** Whether something of it comes from the future. */
  get isAhead(): boolean {
    return this.#future.length > 0;
  }

  /** Drops what comes from the future; its messages are not acknowledged. How many reports those are. */
  withhold(failed: (error: unknown) => void): number {
    const before = this.refused.length;
    const kept = this.refused.filter(({ cause }) => cause !== "future");
    this.refused.splice(0, before, ...kept);
    const future = this.#future;
    this.#future = [];
    this.#futureAt = Number.POSITIVE_INFINITY;
    // In a turn of its own: they may submit more.
    setImmediate(() => tellAll(future, "failed", failed));
    return before - kept.length;
  }

  /** Adds one message's reports, judged and made ready. */
  add(
    reports: readonly Report[],
    receivedAt: number,
    { maxFutureMs, watched, dropped }: Judging,
    done: (outcome: Outcome) => void,
  ): void {
    this.heardAt = Math.max(this.heardAt, receivedAt);
    const refused = this.refused.length;
    for (const given of reports) {
      if (!worthKeeping(given)) continue;
      const report = soundReport(given, dropped);
      const time = eventTime(report.time ?? receivedAt, receivedAt, maxFutureMs);
      if (typeof time === "string") this.#refuse(report, receivedAt, time);
      else if (report.type === "fix" && !onEarth(report)) this.#refuse(report, receivedAt, "position");
      else {
        const draft = draftOf(report, time, receivedAt, watched);
        this.drafts.push(draft);
        if (time < this.oldest) this.oldest = time;
        if (time - receivedAt > this.newest) {
          this.newest = time - receivedAt;
          this.#newestAt = receivedAt;
        }
        this.bytes += bytesOf(draft, watched);
      }
    }
    this.reports += reports.length;
    this.bytes += messageBytes;
    let future = false;
    for (let at = refused; at < this.refused.length; at++) future ||= this.refused[at]?.cause === "future";
    if (future && !this.isAhead) this.#futureAt = receivedAt;
    (future ? this.#future : this.#done).push(done);
  }

  /** Takes over what is left of the drafts of another one, with the messages that wait for them. The other one is empty then. Gives the bytes of that. */
  takeRest(other: PendingDevice, drafts: readonly Draft[]): number {
    const bytes = Math.ceil((other.bytes * drafts.length) / other.drafts.length);
    for (const draft of drafts) this.drafts.push(draft);
    this.#done = this.#done.concat(other.#done);
    this.#future = this.#future.concat(other.#future);
    this.#futureAt = Math.min(this.#futureAt, other.#futureAt);
    other.#done = [];
    other.#future = [];
    other.#futureAt = Number.POSITIVE_INFINITY;
    this.isRest = true;
    this.oldest = Math.min(this.oldest, drafts[0]?.time ?? this.oldest);
    this.reports += drafts.length;
    this.bytes += bytes;
    return bytes;
  }

  /** Tells every message what became of it; once. One that fails to hear it keeps it from no other. */
  answer(outcome: Outcome, failed: (error: unknown) => void): void {
    const done = this.#done;
    const future = this.#future;
    this.#done = [];
    if (future.length > 0) this.#future = [];
    this.#futureAt = Number.POSITIVE_INFINITY;
    tellAll(done, outcome, failed);
    tellAll(future, outcome, failed);
  }

  #refuse(report: Report, receivedAt: number, cause: RefusedReport["cause"]): void {
    const text = refusedText(report);
    this.bytes += text.length;
    const time = report.time !== undefined && isTime(report.time) ? report.time : receivedAt;
    this.refused.push({ device: this.device.key, receivedAt, time, cause, report: text });
  }
}

/** Tells each of them, whatever another one does. */
function tellAll(
  messages: readonly ((outcome: Outcome) => void)[],
  outcome: Outcome,
  failed: (error: unknown) => void,
): void {
  for (const tell of messages) {
    try {
      tell(outcome);
    } catch (error) {
      failed(error);
    }
  }
}

/** Bytes of a refused report's text: enough for what most trackers send, and a page of a thousand is bounded. */
const mostRefusedText = 4096;

/** A report as JSON; of one that is too long, when and where. */
export function refusedText(report: Report): string {
  const text = JSON.stringify(effectJson(report));
  if (Buffer.byteLength(text) <= mostRefusedText) return text;
  const { alarms: _alarms, readings: _readings, attributes: _attributes, ...rest } = report;
  const omitted = { omittedBytes: Buffer.byteLength(text) };
  return JSON.stringify(effectJson({ ...rest, alarms: [], readings: {}, attributes: omitted }));
}

/** What a draft and the waiting of a message take beside their texts, bytes. */
const draftBytes = 400;
const messageBytes = 200;

/** Memory that a draft takes (an estimate); one that rules look at has what was reported twice. */
export function bytesOf(draft: Draft, watched: boolean): number {
  return draftBytes + draft.extras.length * (watched ? 3 : 1);
}

/** The reports that gather while a commit is in flight, by device. */
export class Pending {
  /** What goes into the next commit of each device. */
  readonly devices = new Map<DeviceKey, PendingDevice>();
  /** What gathers of devices of which something is left over. That goes first: its messages would wait for ever where more comes before each commit. */
  readonly #behind = new Map<DeviceKey, PendingDevice>();

  get empty(): boolean {
    return this.devices.size === 0;
  }

  /** Where a device's next reports gather. */
  of(device: Admitted): PendingDevice {
    const first = this.devices.get(device.key);
    const known = first?.isRest ? this.#behind.get(device.key) : first;
    if (known !== undefined) return known;
    const made = new PendingDevice(device);
    (first === undefined ? this.devices : this.#behind).set(device.key, made);
    return made;
  }

  /** Bytes that wait of a device. */
  bytesOf(device: DeviceKey): number {
    const first = this.devices.get(device);
    if (first === undefined) return 0;
    return first.isRest ? first.bytes + (this.#behind.get(device)?.bytes ?? 0) : first.bytes;
  }

  /** Puts back what is left over of a device, before what gathered of it meanwhile. Gives the bytes that wait again. */
  putBack(
    pending: PendingDevice,
    leftover: readonly Draft[],
  ): { readonly rest: PendingDevice; readonly bytes: number } {
    const { key } = pending.device;
    const first = this.devices.get(key);
    // A try of what was set aside may leave something over too.
    if (first?.isRest) return { rest: first, bytes: first.takeRest(pending, leftover) };
    if (first !== undefined) this.#behind.set(key, first);
    const rest = new PendingDevice(pending.device);
    this.devices.set(key, rest);
    return { rest, bytes: rest.takeRest(pending, leftover) };
  }

  /** Takes out what comes next of a device. */
  take(device: DeviceKey): PendingDevice | undefined {
    const first = this.devices.get(device);
    const behind = this.#behind.get(device);
    this.#behind.delete(device);
    if (behind === undefined) this.devices.delete(device);
    else this.devices.set(device, behind);
    return first;
  }

  /** Hands on what gathered behind devices, whose turn it is where their rests do not wait in `next` too. */
  passOn(next: Pending): void {
    for (const [key, pending] of this.#behind) (next.devices.has(key) ? next.#behind : next.devices).set(key, pending);
  }
}

/** Drafts by event time, those of one moment as they came, without repeats among themselves. The usual ones are in order already and are not copied. */
export function ordered(drafts: readonly Draft[]): readonly Draft[] {
  let inOrder = true;
  for (let index = 1; index < drafts.length && inOrder; index++)
    inOrder = (drafts[index - 1]?.time ?? 0) < (drafts[index]?.time ?? 0);
  if (inOrder) return drafts;
  const hashes = new Set<number>();
  let moment = 0;
  return drafts
    .toSorted((one, other) => one.time - other.time)
    .filter(({ time, hash }) => {
      if (time !== moment) hashes.clear();
      moment = time;
      if (hashes.has(hash)) return false;
      hashes.add(hash);
      return true;
    });
}

/** A device's drafts in order, without those from before `keptFrom`: they may repeat deleted positions, whose ways the totals include already. */
export function keptOf(pending: PendingDevice, { keptFrom }: DeviceState): readonly Draft[] {
  const drafts = ordered(pending.drafts);
  const first = keptFrom === undefined ? 0 : drafts.findIndex(({ time }) => time >= keptFrom);
  pending.tooOld = first < 0 ? drafts.length : first;
  return pending.tooOld === 0 ? drafts : drafts.slice(pending.tooOld);
}
