import type { RefusedReport } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";
import { effectJson } from "../model/effect-json.ts";
import type { Report } from "../model/effects.ts";
import type { Admitted, Outcome } from "../ports/intake.ts";
import { byKey, type Draft, draftOf, onEarth, worthKeeping } from "./draft.ts";
import { eventTime } from "./event-time.ts";

/** What waits for the next commit of one device. */
export interface PendingDevice {
  readonly device: Admitted;
  readonly drafts: Draft[];
  readonly refused: RefusedReport[];
  readonly done: ((outcome: Outcome) => void)[];
}

/** The reports that gather while a commit is in flight, by device. */
export class Pending {
  readonly devices = new Map<DeviceKey, PendingDevice>();
  /** Messages and reports in it. */
  messages = 0;
  reports = 0;

  get empty(): boolean {
    return this.devices.size === 0;
  }

  /** Adds one message's reports, judged and made ready. Keeps the order of (time, hash) within the device where the tracker does. */
  add(
    device: Admitted,
    reports: readonly Report[],
    receivedAt: number,
    maxFutureMs: number,
    done: (outcome: Outcome) => void,
  ): void {
    const pending = this.#of(device);
    for (const report of reports) {
      if (!worthKeeping(report)) continue;
      const time = eventTime(report.time ?? receivedAt, receivedAt, maxFutureMs);
      if (typeof time === "string") pending.refused.push(refusal(device, report, receivedAt, time));
      else if (report.type === "fix" && !onEarth(report))
        pending.refused.push(refusal(device, report, receivedAt, "position"));
      else pending.drafts.push(draftOf(report, time, receivedAt));
    }
    pending.done.push(done);
    this.messages++;
    this.reports += reports.length;
  }

  /** Puts back what a plan left over, with the answers that wait for it, before everything that came since. */
  putBack(device: Admitted, drafts: readonly Draft[], done: readonly ((outcome: Outcome) => void)[]): void {
    const pending = this.#of(device);
    pending.drafts.unshift(...drafts);
    pending.done.unshift(...done);
    this.messages += done.length;
    this.reports += drafts.length;
  }

  #of(device: Admitted): PendingDevice {
    const known = this.devices.get(device.key);
    if (known !== undefined) return known;
    const made: PendingDevice = { device, drafts: [], refused: [], done: [] };
    this.devices.set(device.key, made);
    return made;
  }
}

function refusal(device: Admitted, report: Report, receivedAt: number, cause: RefusedReport["cause"]): RefusedReport {
  return {
    device: device.key,
    receivedAt,
    time: report.time ?? receivedAt,
    cause,
    report: JSON.stringify(effectJson(report)),
  };
}

/** Drafts in the order of their keys, without repeats among themselves. The usual ones are in order already and are not copied. */
export function ordered(drafts: readonly Draft[]): readonly Draft[] {
  let inOrder = true;
  for (let index = 1; index < drafts.length && inOrder; index++) {
    const before = drafts[index - 1];
    const draft = drafts[index];
    inOrder = before !== undefined && draft !== undefined && byKey(before, draft) < 0;
  }
  if (inOrder) return drafts;
  const sorted = drafts.toSorted(byKey);
  return sorted.filter((draft, index) => {
    const before = sorted[index - 1];
    return before === undefined || byKey(before, draft) !== 0;
  });
}
