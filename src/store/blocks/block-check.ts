import { type CheckedChunk, checkChunk } from "../records/chunk-check.ts";
import { RecordsDamaged } from "../records/damage.ts";
import { ByteSink } from "../records/sink.ts";
import { unpackBlock } from "./block.ts";
import type { StoredBlock } from "./layout.ts";

/** Unpacks a block and reads every record of it. */
export function checkBlock(block: StoredBlock): CheckedChunk {
  const records = new ByteSink(256 * 1024);
  try {
    unpackBlock(block, records);
  } catch (error) {
    if (!(error instanceof RecordsDamaged)) throw error;
    return { records: 0, numbered: 0, problem: error.message };
  }
  return checkChunk({ ...block, data: records.bytes.subarray(0, records.length) });
}
