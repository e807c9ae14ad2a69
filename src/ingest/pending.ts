import { effectJson, isTime } from "../model/effect-json.ts";
import type { Report } from "../model/effects.ts";
import type { RefusedReport } from "../model/refused.ts";
import type { FreshRecord } from "../ports/follow.ts";
import type { Admitted, Outcome } from "../ports/intake.ts";
import { eventTime } from "./event-time.ts";
import { freshRecordOf, onEarth, worthKeeping } from "./fresh-record.ts";
import { soundReport } from "./sound.ts";

/** How reports are judged and made ready. */
export interface Judging {
  /** How far ahead of ours a tracker's clock may be, ms. */
  readonly maxFutureMs: number;
  /** See `freshRecordOf`. */
  readonly watched: boolean;
  /** Told of values that can't be kept: see `soundReport`. */
  readonly dropped: (values: number) => void;
}

/** What waits for the next append of one device. */
export class PendingDevice {
  device: Admitted;
  records: FreshRecord[] = [];
  readonly refused: RefusedReport[] = [];
  /** Estimate of the memory that its reports take, bytes. */
  bytes = 0;
  reports = 0;
  /** When its newest message came, epoch ms: also one of which everything was refused. */
  heardAt = 0;
  /** Newest event time against its arrival, ms; none: no report was believed. */
  newest = Number.NEGATIVE_INFINITY;
  /** When that report came, epoch ms by our clock of then. */
  #newestAt = 0;
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

  /** Event times of its first and its last record. */
  get span(): { readonly from: number; readonly to: number } | undefined {
    if (this.records.length === 0) return undefined;
    let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const { time } of this.records) [from, to] = [Math.min(from, time), Math.max(to, time)];
    return { from, to };
  }

  /**
   * When the report came that tells of our clock, epoch ms by our clock of then: the first one from the future, or else
   * the newest. The others may have come before the clock was set, or after.
   */
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
        const record = freshRecordOf(report, time, receivedAt, watched);
        this.records.push(record);
        if (time - receivedAt > this.newest) {
          this.newest = time - receivedAt;
          this.#newestAt = receivedAt;
        }
        this.bytes += bytesOf(record, watched);
      }
    }
    this.reports += reports.length;
    this.bytes += messageBytes;
    let future = false;
    for (let at = refused; at < this.refused.length; at++) future ||= this.refused[at]?.cause === "future";
    if (future && !this.isAhead) this.#futureAt = receivedAt;
    (future ? this.#future : this.#done).push(done);
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

/** What a record and the waiting of a message take beside their texts, bytes. */
const recordBytes = 400;
const messageBytes = 200;

/** Memory that a record takes (an estimate); one that rules look at has what was reported twice. */
function bytesOf({ extras }: FreshRecord, watched: boolean): number {
  return recordBytes + extras.length * (watched ? 3 : 1);
}
