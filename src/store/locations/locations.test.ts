import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../../../test/support/silent-log.ts";
import { openVault } from "../secrets/vault.ts";
import type { Link, PackerCalls, ReaderCalls, SealAnswer, SealRequest, WriterCalls } from "./calls.ts";
import { ChunkIndex } from "./chunk-index.ts";
import { Locations } from "./locations.ts";
import { Mutex } from "./mutex.ts";

test("chunks that were sealed stay in the index until the blocks that took their place are known", async () => {
  const index = new ChunkIndex();
  for (let seq = 1; seq <= 256; seq++) index.add(1, seq, { first: seq, last: seq, count: 1, bytes: 100 });
  const asked = Promise.withResolvers<void>();
  let scans = 0;
  const writer = {
    async call() {
      asked.resolve();
      throw new Error("it wrote, and did not live to answer");
    },
  };
  const blocks = [
    [258, 1, 1, 128, 128, 9999, 257],
    [259, 1, 129, 256, 128, 9999, 257],
  ];
  const reader = {
    async call(name: string, from: number) {
      if (name === "holdsAny") return false;
      if (name === "waiting") return { shifts: [], patches: [] };
      if (name === "scan") return new Float64Array(0);
      if (name === "blockCounts") return new Float64Array(0);
      // No blocks at first.
      if (++scans === 1) return new Float64Array(0);
      if (scans === 2) throw new Error("the disk is busy");
      return Float64Array.from(blocks.filter(([seq = 0]) => seq >= from).flat());
    },
  };
  const packer = {
    async call(_name: string, { seqs }: SealRequest): Promise<SealAnswer> {
      return { taken: seqs.length, seqs, blocks: [], lifts: new Float64Array(0), damaged: [] };
    },
  };
  const locations = new Locations({
    writer: writer as unknown as Link<WriterCalls>,
    reader: reader as unknown as Link<ReaderCalls>,
    historyReader: reader as unknown as Link<ReaderCalls>,
    contextReader: reader as unknown as Link<ReaderCalls>,
    packer: packer as unknown as Link<PackerCalls>,
    refusedBytes: 65_536,
    crowded: { made() {} },
    turns: new Mutex(),
    index,
    log: silentLog,
    vault: openVault,
  });
  locations.sealer.look(1);
  await asked.promise;
  await locations.sealer.close();
  await assert.rejects(locations.settle());
  assert.equal(index.get(1)?.overlapping(1, 256).length, 256);
  await locations.settle();
  assert.deepEqual(index.get(1)?.overlapping(1, 256), [258, 259]);
  assert.equal(index.next, 260);
});
