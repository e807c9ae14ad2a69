import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { changesDamaged, noMatch } from "../locations/failures.ts";
import { Shifts } from "../records/shifts.ts";
import { asDoubles, isRowWhole, type Row, summed } from "./row-sums.ts";

const noShifts = new Shifts(undefined);

/** Reads the shifts of devices. */
export class ShiftRows {
  readonly #row: StatementSync;
  readonly #mark: StatementSync;

  constructor(database: DatabaseSync) {
    this.#row = database.prepare(`select ${asDoubles([...summed.shifts, "crc"])}, data from shifts where device = ?`);
    this.#mark = database.prepare("select shifted from device_state where device = ?");
  }

  /** The shifts of a device, and the row number of the last ones. Throws if they are damaged, or missing although the device's state says that there are some. */
  read(device: DeviceKey): { readonly shifts: Shifts; readonly seq: number } {
    const row = this.#row.get(device);
    if (row !== undefined) return { shifts: shiftsOf(device, row), seq: Number(row.seq) };
    if (this.#mark.get(device)?.shifted === 1) throw changesDamaged(device, "a row is missing");
    return { shifts: noShifts, seq: 0 };
  }
}

/** Decodes the shifts of a row. Throws if it is damaged. */
export function shiftsOf(device: DeviceKey, row: Row): Shifts {
  const { data } = row;
  if (!(data instanceof Uint8Array) || data.byteLength % 8 !== 0) throw changesDamaged(device, "a row is cut short");
  if (isRowWhole("shifts", { ...row, device }) === false) throw changesDamaged(device, noMatch);
  return new Shifts(data);
}
