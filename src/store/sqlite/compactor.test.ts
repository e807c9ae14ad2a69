import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { silentLog } from "../../../test/support/silent-log.ts";
import { ChunkIndex } from "./chunk-index.ts";
import { Compactor } from "./compactor.ts";
import type { CompactAnswer, WriterCalls } from "./messages.ts";
import { Mutex } from "./mutex.ts";
import type { WorkerLink } from "./worker-link.ts";

function add(index: ChunkIndex, device: number, seq: number, count = 1): void {
  index.add(device, seq, { first: seq, last: seq, count, bytes: 100 * count });
}

test("a row whose commit was never answered keeps its number: the index is brought up to it first", async () => {
  const index = new ChunkIndex();
  for (let seq = 1; seq <= 256; seq++) add(index, 1, seq);
  const unanswered = index.next;
  const written = Promise.withResolvers<number>();
  const writer = {
    call: async (_name: string, { seq }: WriterCalls["compact"]["request"]): Promise<CompactAnswer> => {
      written.resolve(seq);
      return { table: Float64Array.of(1, 128, 128, 12_800, 129, 256, 128, 12_800) };
    },
  };
  const compactor = new Compactor({
    writer: writer as unknown as WorkerLink<WriterCalls>,
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
  compactor.look(1);
  const seq = await written.promise;
  await compactor.close();
  assert.deepEqual(index.get(2)?.overlapping(0, 10), [unanswered]);
  assert.ok(seq > unanswered);
});

/** The pause after the first slice, ms, where so many chunks of so many records of another device are there too. */
async function pauseBeside(context: TestContext, others: number, records: number): Promise<number> {
  const index = new ChunkIndex();
  for (let seq = 1; seq <= others; seq++) add(index, 2, seq, records);
  for (let at = 1; at <= 256; at++) add(index, 1, others + at);
  const paused = Promise.withResolvers<number>();
  const { mock } = context.mock.method(globalThis, "setTimeout", (_done: () => void, ms: number) => paused.resolve(ms));
  const compactor = new Compactor({
    writer: {
      call: async () => ({ table: Float64Array.of(1, 256, 256, 25_600) }),
    } as unknown as WorkerLink<WriterCalls>,
    turns: new Mutex(),
    index,
    settle: async () => {},
    doubt: () => assert.fail("the writer answers"),
    log: silentLog,
  });
  compactor.look(1);
  const ms = await paused.promise;
  mock.restore();
  await compactor.close();
  return ms;
}

test("many chunks that wait to be put together make it urgent; full ones, which gather with the years, do not", async (context) => {
  const usual = await pauseBeside(context, 0, 1);
  assert.ok((await pauseBeside(context, 1_100_000, 1)) < usual);
  assert.equal(await pauseBeside(context, 1_100_000, 128), usual);
});
