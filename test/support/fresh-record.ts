import { freshRecordOf } from "../../src/ingest/fresh-record.ts";
import type { Fix } from "../../src/model/effects.ts";
import type { FreshRecord } from "../../src/ports/follow.ts";

/** When the drive of these records begins, epoch ms. */
export const driveStart = Date.UTC(2026, 5, 1);

/** A second of a drive, as it was appended. `nth`: which of the things that were said of it. */
export function freshRecord(second: number, nth = 0): FreshRecord {
  const where = { valid: true, latitude: 48 + (second % 1000) / 1000, longitude: 11 + nth / 1e4 };
  const fix: Fix = {
    type: "fix",
    time: driveStart + second * 1000,
    ...where,
    alarms: [],
    readings: {},
    attributes: {},
  };
  return freshRecordOf(fix, fix.time, driveStart, false);
}

/** A record that the fold can't take as it comes. */
export function poisonedRecord(second: number): FreshRecord {
  return {
    ...freshRecord(second),
    get latitude(): number {
      throw new Error("a defect");
    },
  };
}
