import type { DeviceKey } from "../../model/device.ts";
import { changesDamaged, noMatch } from "../locations/failures.ts";
import { isWhole } from "../records/row-sum.ts";
import { Shifts } from "../records/shifts.ts";
import type { Statement } from "./wire/messages.ts";
import type { Row } from "./wire/values.ts";

/** What is stored of the shifts of devices. The state says whether there is a row: one that is not found would be missed by nobody. */
export const shiftRows: Statement = {
  name: "shifts_of",
  sql: `select own.device, own.shifted, shifts.seq, since, count, shifts.crc, shifts.data
    from device_state as own left join shifts using (device) where own.device = any ($1::bigint[])`,
};

/** A row of `shifts`. */
export interface ShiftsRow {
  /** The device's key, and what the row says of the shifts. */
  readonly numbers: readonly [device: DeviceKey, seq: number, since: number, count: number];
  readonly crc: number | null;
  readonly data: Uint8Array;
}

/** The row of a device's shifts. `missing`: there should be one. Undefined: there are no shifts. */
export type FoundShifts = ShiftsRow | "missing" | undefined;

const noBytes = new Uint8Array(0);

/** Reads a row of `shiftRows` from its second column on; the first, the device, was read already. */
export function foundShifts(device: DeviceKey, row: Row): FoundShifts {
  const shifted = row.int();
  const seq = row.maybeInt();
  if (seq === null) return shifted === 1 ? "missing" : undefined;
  return { numbers: [device, seq, row.int(), row.int()], crc: row.maybeInt(), data: row.bytes() ?? noBytes };
}

/** Decodes the shifts of a device. Throws if they are damaged, or if the row is missing. */
export function shiftsOf(device: DeviceKey, found: FoundShifts): Shifts {
  if (found === undefined) return new Shifts(undefined);
  if (found === "missing") throw changesDamaged(device, "a row is missing");
  const { numbers, crc, data } = found;
  if (data.byteLength % 8 !== 0) throw changesDamaged(device, "a row is cut short");
  if (isWhole(crc, numbers, data) === false) throw changesDamaged(device, noMatch);
  return new Shifts(data);
}
