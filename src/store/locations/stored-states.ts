import { followedState } from "../../fold/state.ts";
import type { DeviceKey } from "../../model/device.ts";
import type { DeviceState } from "../../model/location.ts";
import { chunkRecords } from "../records/batch.ts";
import { wholeRecords } from "../records/chunk-check.ts";
import { recordsDamage } from "../records/damage.ts";
import { readRecords } from "../records/record-codec.ts";
import { readState } from "../records/state-codec.ts";
import { type Link, type ReaderCalls, stateNumbers } from "./calls.ts";
import type { PlacedChunk } from "./device-chunks.ts";
import { stateDamaged, storeError } from "./failures.ts";
import { mostSeq } from "./sizes.ts";

/** Rows that are read at a time, at most. */
const sliceRows = 1024;
/** States that are asked for at a time. */
const statesAtOnce = 4096;

/** A state, and what it includes. */
export interface StoredState {
  readonly state: DeviceState;
  /** The state includes the device's chunks up to this row number. */
  readonly asOf: number;
}

/** A row of the tail that a stored state may not include. */
export interface NewRow extends Pick<PlacedChunk, "seq" | "first" | "last" | "count"> {
  readonly device: DeviceKey;
}

/** Reads the settings that `asOfSetting` takes. */
export const asOfQuery = "select value from setting where name in ('states', 'states again')";

/**
 * The row number up to which stored states include all rows of the tail. Two settings hold it, because a single one would still be a number after a digit was damaged. If the two
 * differ, or are no row number, the answer is 0: no row is known to be included.
 */
export function asOfSetting([one, other]: readonly { readonly value?: unknown }[]): number {
  const asOf = Number(one?.value ?? 0);
  const isKnown = one?.value === other?.value && Number.isSafeInteger(asOf) && asOf >= 0 && asOf < mostSeq;
  return isKnown ? asOf : 0;
}

/** Reads stored states. Devices that have none are left out. */
export async function readStored(
  reader: Link<ReaderCalls>,
  devices: readonly DeviceKey[],
): Promise<ReadonlyMap<DeviceKey, StoredState>> {
  const found = new Map<DeviceKey, StoredState>();
  for (let from = 0; from < devices.length; ) {
    const { answered, table, bytes } = await reader.call("states", devices.slice(from, from + statesAtOnce));
    for (let at = 0; at < table.length; at += stateNumbers) {
      const [device = 0, version = 0, asOf = 0, begin = 0, end = 0] = table.subarray(at, at + stateNumbers);
      found.set(device, { state: stateOf(device, bytes.subarray(begin, end), version), asOf });
    }
    from += answered;
  }
  return found;
}

function stateOf(device: DeviceKey, bytes: Uint8Array, version: number): DeviceState {
  try {
    return readState(bytes, version);
  } catch (error) {
    const problem = recordsDamage(error);
    if (problem === undefined) throw error;
    throw storeError(stateDamaged(device, problem));
  }
}

/** Adds the records of rows to the states of their devices. */
export async function followRows(
  reader: Link<ReaderCalls>,
  rows: readonly NewRow[],
  states: Map<DeviceKey, StoredState>,
): Promise<void> {
  for (let from = 0; from < rows.length; ) {
    const seqs = rows.slice(from, from + sliceRows).map(({ seq }) => seq);
    const { ends, bytes } = await reader.call("rows", seqs);
    let begin = 0;
    ends.forEach((end, index) => {
      const row = rows[from + index];
      const before = row && states.get(row.device);
      if (row !== undefined && before !== undefined)
        states.set(row.device, { state: stateAfter(before.state, row, bytes.subarray(begin, end)), asOf: row.seq });
      begin = end;
    });
    from += ends.length;
  }
}

/** The state after a row of the tail. The records of a damaged row are lost; their numbers are not given again, as far as the row can be believed. */
function stateAfter(before: DeviceState, row: NewRow, data: Uint8Array): DeviceState {
  try {
    return followedState(before, readRecords(wholeRecords({ ...row, data })));
  } catch (error) {
    if (recordsDamage(error) === undefined) throw error;
    const count = Math.min(Math.max(row.count, 0), chunkRecords);
    return { ...before, version: before.version + 1, arrivals: before.arrivals + count };
  }
}
