import type { DeviceKey } from "../model/device.ts";
import { BatchShare } from "./batch-share.ts";
import type { Pending, PendingDevice } from "./pending.ts";

/** Bytes of reports of one commit (an estimate); what waits beyond is the next commit. */
const mostBatchBytes = 8 * 1024 * 1024;
/** A device of which no more waits is in the next batch, before those that send a backlog: some fifty reports. Such devices make a batch no more than twice as large. */
const fewBytes = 32 * 1024;
/** After a batch that took this much longer than one without expensive reports, ms, the few reports in order that came meanwhile have a batch to themselves. */
const longBatchMs = 10;
/** The most that one batch adds to the estimate of what a batch without expensive reports takes, ms. A disk that stalls once tells nothing of the next batch. */
const mostSlower = 1;
/** If no device sent few reports in order while batches took this long, ms, longer batches of late reports keep nobody waiting. */
const aloneAfterMs = 1000;

/** What one batch commits. */
export interface Batch {
  readonly devices: readonly PendingDevice[];
  /** The devices among them that have late reports, which cost much. */
  readonly late: readonly PendingDevice[];
  /** Some of the devices sent few reports, all in order. */
  readonly hasOthers: boolean;
}

/** What is known of a device whose reports wait. */
export interface BatchRules {
  /** It may not be in the next batch. */
  heldBack(device: DeviceKey): boolean;
  /** Some of its reports come late. */
  isLate(pending: PendingDevice): boolean;
  /** The history around its late reports is being read. */
  isUnread(pending: PendingDevice): boolean;
}

/** Chooses the next batch from all that waits. A device with few reports has its turn at once. Devices that send much or late share what a batch may take. */
export class Batches {
  readonly #lateShare = BatchShare.ofLateReports();
  readonly #bulkShare = BatchShare.ofBytes(mostBatchBytes);
  #afterLong = false;
  /** The time that batches without expensive reports take now, ms: the disk and a busy processor need it for any batch. */
  #plainMs = 0;
  /** How long batches took since one had few reports in order, ms. */
  #othersMs = 0;

  /**
   * Takes what waits, up to a commit's size and the shares of late reports and of backlogs. Devices that are held back stay, and devices whose history is being read.
   * All that stays goes to `rest`, which is empty before.
   */
  take(all: Pending, rest: Pending, rules: BatchRules): Batch {
    const afterLong = this.#afterLong;
    this.#afterLong = false;
    let batch = this.#choose(all, rest, rules, afterLong);
    if (afterLong && batch.devices.length === 0) {
      rest.devices.clear();
      batch = this.#choose(all, rest, rules, false);
    }
    all.passOn(rest);
    return batch;
  }

  /** Learns from a batch that took `ms`. Devices that the batch postponed took none of that time. `wrote`: something of it was written, so that the time tells of the disk. */
  took({ devices, late, hasOthers }: Batch, ms: number, wrote: boolean): void {
    const reports = weigh(late, ({ drafts }) => drafts.length);
    const bytes = weigh(devices, (pending) => (isFew(pending) ? 0 : pending.bytes));
    const isPlain = reports.all + bytes.all === 0;
    if (isPlain && wrote) {
      this.#plainMs = Math.min((this.#plainMs + ms) / 2, this.#plainMs + mostSlower);
      this.#lateShare.othersTook(ms);
      this.#bulkShare.othersTook(ms);
    }
    const own = Math.max(0, ms - this.#plainMs);
    this.#othersMs = hasOthers ? 0 : this.#othersMs + ms;
    this.#lateShare.isAlone = this.#othersMs > aloneAfterMs;
    this.#lateShare.took(reports.all, own, reports.counted, wrote);
    this.#bulkShare.took(bytes.all, own, bytes.counted, wrote);
    this.#afterLong = !isPlain && own > longBatchMs;
  }

  /** `quick`: takes only devices with few reports, all of them in order. */
  #choose(all: Pending, rest: Pending, rules: BatchRules, quick: boolean): Batch {
    const devices: PendingDevice[] = [];
    const backlogs: PendingDevice[] = [];
    const late: PendingDevice[] = [];
    let bytes = 0;
    let reports = 0;
    let bulk = 0;
    let hasOthers = false;
    for (const pending of all.devices.values()) {
      const { key } = pending.device;
      // Nobody waits for the history around another device's late report.
      const held = rules.heldBack(key) || rules.isUnread(pending);
      const ofDevice = rules.isLate(pending) ? pending.drafts.length : 0;
      const few = isFew(pending);
      const slow = quick && (ofDevice > 0 || !few);
      const tooLate = reports > 0 && ofDevice > 0 && reports + ofDevice > this.#lateShare.amount;
      const tooLong = bulk > 0 && !few && bulk + pending.bytes > this.#bulkShare.amount;
      const tooMuch = bytes > (few ? 2 * mostBatchBytes : mostBatchBytes);
      if (held || slow || tooLate || tooLong || tooMuch) {
        // Those that wait stand first next time, so that all have their turn.
        rest.devices.set(key, pending);
        continue;
      }
      (few ? devices : backlogs).push(pending);
      bytes += pending.bytes;
      if (!few) bulk += pending.bytes;
      if (ofDevice === 0) {
        hasOthers ||= few;
        continue;
      }
      reports += ofDevice;
      late.push(pending);
    }
    for (const pending of backlogs) devices.push(pending);
    return { devices, late, hasOthers };
  }
}

function isFew({ bytes }: PendingDevice): boolean {
  return bytes <= fewBytes;
}

/**
 * The size of these devices' reports: of all devices, and of those that were not postponed. What else was left over does not count: no more of it would have been planned,
 * however much time there was.
 */
function weigh(devices: readonly PendingDevice[], sizeOf: (pending: PendingDevice) => number) {
  const sizes = { all: 0, counted: 0 };
  for (const pending of devices) {
    const { drafts, left, postponed } = pending;
    const size = sizeOf(pending);
    const planned = postponed || left === 0 ? size : size * (1 - left / drafts.length);
    sizes.all += planned;
    if (!postponed) sizes.counted += planned;
  }
  return sizes;
}
