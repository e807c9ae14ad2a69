import { checkChunk } from "../records/chunk-check.ts";
import { recordsDamage } from "../records/damage.ts";
import { blockHeader, type StoredBlock } from "./layout.ts";

/** Whether the bytes of a row of the tail, or of a block, agree with their row, which an older version wrote without a checksum. `owner`: the device that the row names. */
export function isOwnRow(table: "tail" | "block", owner: number, chunk: StoredBlock): boolean {
  if (owner !== chunk.device) return false;
  return table === "tail" ? checkChunk(chunk).problem === undefined : hasItsHeader(chunk);
}

function hasItsHeader(block: StoredBlock): boolean {
  try {
    blockHeader(block);
    return true;
  } catch (error) {
    if (recordsDamage(error) === undefined) throw error;
    return false;
  }
}
