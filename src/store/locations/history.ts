import type { DeviceKey } from "../../model/device.ts";
import type { HistoryChunk, HistoryRange } from "../../ports/store.ts";
import type { JsonPiece, Link, ReaderCalls } from "./calls.ts";
import type { BlocksOfIndex, ChunkIndex } from "./chunk-index.ts";
import { chunksMissing } from "./failures.ts";
import type { HistorySteps } from "./history-steps.ts";
import { Sweep } from "./sweep.ts";

/** Records of one step: some 10 ms of the reader and 600 KB of JSON, so that short questions get in between. */
const stepRecords = 2048;
/** Bytes of the chunks of one step: what 2,048 records with many values have. Records with long texts make shorter steps. */
export const stepBytes = 1024 * 1024;

/** Chunks are put together now and then, not between every look at the index and the next. */
export const mostLooks = 20;

/** What reading needs of the store. */
export interface ReadParts {
  readonly reader: Link<ReaderCalls>;
  readonly steps: HistorySteps;
  readonly index: ChunkIndex;
  readonly blocks: BlocksOfIndex;
  /** Resolves when the index knows all that has been written until now. */
  settled(): Promise<void>;
}

/** A step that is being read: the time from which on nothing has been given, and the answer. */
interface Asked {
  readonly begin: number;
  readonly answer: Promise<readonly JsonPiece[] | undefined>;
}

/**
 * A device's history as pieces of JSON. The next step is asked for while the pieces of one are consumed, and no further ahead:
 * a consumer that waits holds two steps. What it has consumed goes back to the reader: new buffers for each piece would wait for the collector by
 * the tens of MB.
 */
export async function* readHistory(
  { steps, index, blocks, settled }: ReadParts,
  device: DeviceKey,
  range: HistoryRange,
): AsyncGenerator<HistoryChunk, void, undefined> {
  await blocks.whole();
  const chunks = index.get(device);
  if (chunks === undefined || range.limit <= 0) return;
  const { account, after, to, odometerStart, readings = false } = range;
  const from = Math.max(range.from, after?.time ?? range.from);
  const sweep = new Sweep(chunks, from, to);
  let left = range.limit;
  let begin = from;
  let spares: ArrayBuffer[] = [];
  const ask = (): Asked | undefined => {
    const step = left > 0 ? sweep.next({ records: Math.min(stepRecords, left), bytes: stepBytes }) : undefined;
    if (step === undefined) return undefined;
    const { bytes, ...chosen } = step;
    const request = { device, ...chosen, from: begin, to, after, limit: left, odometerStart, readings, spares };
    spares = [];
    const answer = steps.read(account, bytes, request);
    const asked = { begin, answer };
    // Whether it failed is told when its turn comes; a consumer that left early never asks.
    asked.answer.catch(() => undefined);
    // All before the bound has been given then, whatever the pieces are.
    begin = Math.max(begin, step.bound);
    return asked;
  };
  for (let pending = ask(), looks = 1; pending !== undefined; ) {
    const pieces = await pending.answer;
    if (pieces === undefined) {
      if (looks++ === mostLooks) throw chunksMissing(device);
      await settled();
      // A device that is gone has no more.
      if (index.get(device) !== chunks) return;
      begin = pending.begin;
      sweep.again(begin);
      pending = ask();
      continue;
    }
    looks = 1;
    for (const piece of pieces) left -= piece.count;
    pending = ask();
    for (const piece of pieces) {
      yield piece;
      spares.push(piece.json.buffer);
    }
  }
}
