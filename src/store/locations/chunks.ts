import type { DeviceKey } from "../../model/device.ts";
import { checkRow } from "../records/chunk-check.ts";
import { recordsDamage } from "../records/damage.ts";
import type { Patches } from "../records/patches.ts";
import type { ShiftedChunk, Shifts } from "../records/shifts.ts";
import { damaged, EngineError } from "./failures.ts";

/** What is known of a chunk without its bytes. */
export interface ChunkHead extends ShiftedChunk {
  readonly device: DeviceKey;
  readonly seq: number;
  readonly count: number;
  /** Bytes of its records before packing. */
  readonly bytes: number;
  /** It is a block. */
  readonly sealed: boolean;
  /** Whether its row matches its checksum. Undefined when that was not checked, or when an older version wrote the row without one. */
  readonly whole?: boolean | undefined;
}

/** A chunk as it is stored. */
export interface ChunkRow extends ChunkHead {
  readonly data: Uint8Array;
}

/** Chunks of a device by (first, seq), with the shifts and patches that are not folded into them yet. */
export interface ChunksFound<Row extends ChunkHead = ChunkRow> {
  readonly rows: readonly Row[];
  readonly shifts: Shifts;
  readonly patches: Patches;
}

/** Returns the error for a chunk whose records are damaged, which names the device and the times. Returns any other error as it is. */
export function asDamage(error: unknown, { device, seq, first, last, sealed }: ChunkHead): unknown {
  const problem = recordsDamage(error);
  if (problem === undefined) return error;
  const range = `from ${momentText(first)} to ${momentText(last)}`;
  const chunk = `${sealed ? "block" : "row"} ${seq} of device ${device}, positions ${range}`;
  return new EngineError(damaged(`${chunk}, is damaged: ${problem}`));
}

/** An event time as text. A damaged row may have any number. */
export function momentText(time: number): string {
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : `${time} ms`;
}

/** Runs `read`. If the chunk is damaged, the error names the device and the times. */
export function toldAsDamaged<T>(chunk: ChunkHead, read: () => T): T {
  try {
    checkRow(chunk);
    return read();
  } catch (error) {
    throw asDamage(error, chunk);
  }
}
