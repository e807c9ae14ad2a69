import { type CheckedChunk, checkChunk, type StoredChunk } from "../records/chunk-check.ts";
import { RecordsDamaged } from "../records/damage.ts";
import { ByteSink } from "../records/sink.ts";
import { unpackBlock } from "./block.ts";

/** Unpacks a block and reads every record of it. */
export function checkBlock({ first, last, count, data }: StoredChunk): CheckedChunk {
  const records = new ByteSink(256 * 1024);
  try {
    unpackBlock(data, records);
  } catch (error) {
    if (!(error instanceof RecordsDamaged)) throw error;
    return { records: 0, numbered: 0, problem: error.message };
  }
  return checkChunk({ first, last, count, data: records.bytes.subarray(0, records.length) });
}
