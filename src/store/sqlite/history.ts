import type { HistoryChunk, HistoryRange } from "../../ports/store.ts";
import type { DeviceChunks } from "./chunk-index.ts";
import type { JsonPiece, ReaderCalls } from "./messages.ts";
import { Sweep } from "./sweep.ts";
import type { WorkerLink } from "./worker-link.ts";

/** Records of one step: some 10 ms of the reader and 600 KB of JSON, so that short questions get in between. */
const stepRecords = 2048;

/**
 * A device's history as pieces of JSON. The next step is asked for while the pieces of one are consumed, and no further ahead:
 * a consumer that waits holds two steps.
 */
export async function* readHistory(
  reader: WorkerLink<ReaderCalls>,
  chunks: DeviceChunks | undefined,
  range: HistoryRange,
): AsyncGenerator<HistoryChunk, void, undefined> {
  if (chunks === undefined || range.limit <= 0) return;
  const { after, to, odometerStart } = range;
  const from = Math.max(range.from, after?.time ?? range.from);
  const sweep = new Sweep(chunks, from, to);
  let left = range.limit;
  let begin = from;
  const ask = (): Promise<readonly JsonPiece[]> | undefined => {
    const step = left > 0 ? sweep.next(Math.min(stepRecords, left)) : undefined;
    if (step === undefined) return undefined;
    const answer = reader.call("history", { ...step, from: begin, to, after, limit: left, odometerStart });
    // Whether it failed is told when its turn comes; a consumer that left early never asks.
    answer.catch(() => undefined);
    // All before the bound has been given then, whatever the pieces are.
    begin = Math.max(begin, step.bound);
    return answer;
  };
  for (let pending = ask(); pending !== undefined; ) {
    const pieces = await pending;
    for (const piece of pieces) left -= piece.count;
    pending = ask();
    yield* pieces;
  }
}
