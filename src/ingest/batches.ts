import type { DeviceKey } from "../model/device.ts";
import { BatchShare } from "./batch-share.ts";
import type { Pending, PendingDevice } from "./pending.ts";

/** Bytes of reports of one commit (an estimate); what waits beyond is the next commit. */
const mostBatchBytes = 8 * 1024 * 1024;
/** A device of which no more waits is in the next batch, before those that send a backlog: some fifty reports. Such devices make a batch no more than twice as large. */
const fewBytes = 32 * 1024;
/** After a batch that took longer, ms, the few reports in order that came meanwhile have a batch to themselves. */
const longBatchMs = 10;

/** What one batch commits. */
export interface Batch {
  readonly devices: readonly PendingDevice[];
  /** Those of them with late reports, which cost much, and how many reports they have. */
  readonly late: ReadonlyMap<PendingDevice, number>;
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

/** Chooses what is committed next of all that waits: everybody who reports a little has his turn at once, and those who send much or late share what a batch may take. */
export class Batches {
  readonly #lateShare = BatchShare.ofLateReports();
  readonly #bulkShare = BatchShare.ofBytes(mostBatchBytes);
  #afterLong = false;

  /** What waits, up to a commit's size and its shares of what may take long, but for devices that are held back. All that is not taken goes on waiting in `rest`. */
  take(all: Pending, rest: Pending, rules: BatchRules): Batch {
    const quick = this.#afterLong ? this.#choose(all, rules, true) : undefined;
    this.#afterLong = false;
    const { stays, ...batch } =
      quick !== undefined && quick.devices.length > 0 ? quick : this.#choose(all, rules, false);
    // Those that wait stand first next time, so that all have their turn.
    for (const [key, pending] of stays) rest.devices.set(key, pending);
    all.passOn(rest);
    return batch;
  }

  /** The batch took so long; those devices were left over whole, and took no part of that time. */
  took({ devices, late }: Batch, postponed: ReadonlySet<PendingDevice>, ms: number): void {
    const all = { reports: 0, bytes: 0 };
    const counted = { reports: 0, bytes: 0 };
    for (const [pending, reports] of late) {
      all.reports += reports;
      if (!postponed.has(pending)) counted.reports += reports;
    }
    for (const pending of devices) {
      if (isFew(pending)) continue;
      all.bytes += pending.bytes;
      if (!postponed.has(pending)) counted.bytes += pending.bytes;
    }
    this.#lateShare.took(all.reports, ms, counted.reports);
    this.#bulkShare.took(all.bytes, ms, counted.bytes);
    this.#afterLong = all.reports + all.bytes > 0 && ms > longBatchMs;
  }

  /** `quick`: only of those that report a little, in order. */
  #choose(all: Pending, rules: BatchRules, quick: boolean) {
    const devices: PendingDevice[] = [];
    const backlogs: PendingDevice[] = [];
    const stays: (readonly [DeviceKey, PendingDevice])[] = [];
    const late = new Map<PendingDevice, number>();
    let bytes = 0;
    let reports = 0;
    let bulk = 0;
    for (const [key, pending] of all.devices) {
      // Nobody waits for the history around another device's late report.
      const held = rules.heldBack(key) || rules.isUnread(pending);
      const ofDevice = rules.isLate(pending) ? pending.drafts.length : 0;
      const few = isFew(pending);
      const slow = quick && (ofDevice > 0 || !few);
      const tooLate = reports > 0 && ofDevice > 0 && reports + ofDevice > this.#lateShare.amount;
      const tooLong = bulk > 0 && !few && bulk + pending.bytes > this.#bulkShare.amount;
      const tooMuch = bytes > (few ? 2 * mostBatchBytes : mostBatchBytes);
      if (held || slow || tooLate || tooLong || tooMuch) {
        stays.push([key, pending]);
        continue;
      }
      (few ? devices : backlogs).push(pending);
      bytes += pending.bytes;
      if (!few) bulk += pending.bytes;
      if (ofDevice === 0) continue;
      reports += ofDevice;
      late.set(pending, ofDevice);
    }
    for (const pending of backlogs) devices.push(pending);
    return { devices, late, stays };
  }
}

function isFew({ bytes }: PendingDevice): boolean {
  return bytes <= fewBytes;
}
