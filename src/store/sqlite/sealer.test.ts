import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../../test/support/silent-log.ts";
import { ChunkIndex } from "./chunk-index.ts";
import type { PackerCalls, SealAnswer, SealRequest, SwapRequest, WriterCalls } from "./messages.ts";
import { Mutex } from "./mutex.ts";
import { Sealer } from "./sealer.ts";
import type { WorkerLink } from "./worker-link.ts";

function add(index: ChunkIndex, device: number, seq: number, sealed = false): void {
  const count = sealed ? 1024 : 1;
  index.add(device, seq, { first: seq, last: seq, count, bytes: 100 * count, sealed });
}

/** A packer that makes one block of all that it is given. */
const packer = {
  async call(_name: string, { seqs }: SealRequest): Promise<SealAnswer> {
    const block = { first: Math.min(...seqs), last: Math.max(...seqs), count: seqs.length, bytes: 100 * seqs.length };
    const pieces = [{ ...block, data: new Uint8Array(0) }];
    return { taken: seqs.length, seqs, pieces, lifts: new Float64Array(0), damaged: [] };
  },
} as unknown as WorkerLink<PackerCalls>;

test("a row whose commit was never answered keeps its number: the index is brought up to it first", async () => {
  const index = new ChunkIndex();
  for (let seq = 1; seq <= 256; seq++) add(index, 1, seq);
  const unanswered = index.next;
  const written = Promise.withResolvers<number>();
  const writer = {
    call: async (_name: string, { seq }: SwapRequest): Promise<boolean> => {
      written.resolve(seq);
      return true;
    },
  };
  const sealer = new Sealer({
    writer: writer as unknown as WorkerLink<WriterCalls>,
    packer,
    turns: new Mutex(),
    index,
    // As the store does: it looks from the next number on.
    settle: async () => {
      if (index.get(2) === undefined && index.next <= unanswered)
        index.add(2, unanswered, { first: 1, last: 1, count: 1, bytes: 100 });
    },
    doubt: () => assert.fail("the writer answers"),
    log: silentLog,
  });
  sealer.look(1);
  const seq = await written.promise;
  await sealer.close();
  assert.deepEqual(index.get(2)?.overlapping(0, 10), [unanswered]);
  assert.ok(seq > unanswered);
});

/** The pause after the first slice, ms, where so many chunks of another device, or blocks, are there too. */
async function pauseBeside(context: TestContext, others: number, sealed: boolean): Promise<number> {
  const index = new ChunkIndex();
  for (let seq = 1; seq <= others; seq++) add(index, 2, seq, sealed);
  for (let at = 1; at <= 256; at++) add(index, 1, others + at);
  const paused = Promise.withResolvers<number>();
  const { mock } = context.mock.method(globalThis, "setTimeout", (_done: () => void, ms: number) => paused.resolve(ms));
  const sealer = new Sealer({
    writer: { call: async () => true } as unknown as WorkerLink<WriterCalls>,
    packer,
    turns: new Mutex(),
    index,
    settle: async () => {},
    doubt: () => assert.fail("the writer answers"),
    log: silentLog,
  });
  sealer.look(1);
  const ms = await paused.promise;
  mock.restore();
  await sealer.close();
  return ms;
}

test("many chunks that wait to be sealed make it urgent; blocks, which gather with the years, do not", async (context) => {
  const usual = await pauseBeside(context, 0, false);
  assert.ok((await pauseBeside(context, 1_100_000, false)) < usual);
  assert.equal(await pauseBeside(context, 1_100_000, true), usual);
});
