import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { someRecord } from "../../../test/contract/store/records.ts";
import { packedRecords, storedBlock } from "../../../test/support/blocks.ts";
import { byPlace } from "../../model/location.ts";
import { readRecords } from "../records/record-codec.ts";
import { ByteSink } from "../records/sink.ts";
import { decompressBlock, openBody } from "./block.ts";
import { BlockCursor } from "./block-cursor.ts";
import { appendWindow, windowOf } from "./window.ts";

test("a window has the last record before a moment, all of the moment, and as many later ones as are asked for", () => {
  fc.assert(
    fc.property(
      fc.array(someRecord, { minLength: 1, maxLength: 60 }),
      fc.nat(),
      fc.nat({ max: 9 }),
      (some, at, most) => {
        const records = some.toSorted(byPlace);
        const from = (records[at % records.length]?.time ?? 0) + (at % 3) - 1;
        const bytes = packedRecords(records);
        const before = records.findLast(({ time }) => time < from);
        const behind = records.filter(({ time }) => time > from).slice(0, most);
        const expected = [...(before ? [before] : []), ...records.filter(({ time }) => time === from), ...behind];
        const window = { from, bound: Number.POSITIVE_INFINITY, most };
        assert.deepEqual(readRecords(windowOf(bytes, window)), expected);
        const block = openBody(decompressBlock(storedBlock(records)));
        if (!(block instanceof BlockCursor)) return;
        const sink = new ByteSink(1024);
        appendWindow(block, window, sink);
        assert.deepEqual(readRecords(sink.cut()), expected);
      },
    ),
  );
});
