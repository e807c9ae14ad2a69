import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../../test/support/silent-log.ts";
import { ChunkIndex } from "./chunk-index.ts";
import { Compactor } from "./compactor.ts";
import type { CompactAnswer, WriterCalls } from "./messages.ts";
import { Mutex } from "./mutex.ts";
import type { WorkerLink } from "./worker-link.ts";

test("a row whose commit was never answered keeps its number: the index is brought up to it first", async () => {
  const index = new ChunkIndex();
  for (let seq = 1; seq <= 256; seq++) index.add(seq, 1, seq, seq, 1);
  const unanswered = index.next;
  const written = Promise.withResolvers<number>();
  const writer = {
    call: async (_name: string, { seq }: WriterCalls["compact"]["request"]): Promise<CompactAnswer> => {
      written.resolve(seq);
      return { table: Float64Array.of(1, 128, 128, 129, 256, 128) };
    },
  };
  const compactor = new Compactor({
    writer: writer as unknown as WorkerLink<WriterCalls>,
    turns: new Mutex(),
    index,
    // As the store does: it looks from the next number on.
    settle: async () => {
      if (index.get(2) === undefined && index.next <= unanswered) index.add(unanswered, 2, 1, 1, 1);
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
