import type { LocationRecord } from "../../src/model/location.ts";
import { packBlock } from "../../src/store/blocks/block.ts";
import type { StoredBlock } from "../../src/store/blocks/layout.ts";
import { writeRecord } from "../../src/store/records/record-codec.ts";
import { ByteSink } from "../../src/store/records/sink.ts";

/** Records as the tail has them. */
export function packedRecords(records: readonly LocationRecord[]): Uint8Array<ArrayBuffer> {
  const sink = new ByteSink(1024);
  for (const record of records) writeRecord(sink, record);
  return sink.cut();
}

/** A block of records as its row holds it. */
export function storedBlock(records: readonly LocationRecord[], device = 1): StoredBlock {
  const [first, last] = [records[0]?.time ?? 0, records.at(-1)?.time ?? 0];
  return { device, first, last, count: records.length, data: packBlock(packedRecords(records), device) };
}
