import { type CheckedChunk, checkRecords } from "../records/chunk-check.ts";
import { recordsDamage } from "../records/damage.ts";
import { unpackBlock } from "./block.ts";
import type { StoredBlock } from "./layout.ts";

/** Unpacks a block and reads every record of it. */
export function checkBlock(block: StoredBlock): CheckedChunk {
  let data: Uint8Array;
  try {
    data = unpackBlock(block, 256 * 1024);
  } catch (error) {
    const problem = recordsDamage(error);
    if (problem === undefined) throw error;
    return { records: 0, numbered: 0, problem };
  }
  return checkRecords({ ...block, data });
}
