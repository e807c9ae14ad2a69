import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { protocols } from "../../src/protocols/index.ts";
import { sheetOf } from "./recorded/sheet.ts";
import { mostKnown, rowOf, tallyOf } from "./recorded/tally.ts";

describe("recorded messages of real trackers", () => {
  for (const protocol of protocols) {
    it(`agree: ${protocol.id}`, (context) => {
      const tally = tallyOf(protocol);
      if (tally === undefined) return context.skip("its files are not in the folder of vectors");
      context.diagnostic(rowOf(protocol.id, tally));
      assert.deepEqual(
        tally.differ.map(({ line, differences }) => `${line.unit} ${line.seq}: ${differences?.join("; ")}`),
        [],
        `lines that differ; test/contract/recorded/show.ts ${protocol.id} shows them`,
      );
      assert.deepEqual(tally.settled, [], `lines of differences/${protocol.id}.json that agree by now`);
      const { length } = tally.known;
      if (sheetOf(protocol.id).overLimit === undefined)
        assert.ok(length <= mostKnown(tally), `${length} known differences are more than ${mostKnown(tally)}`);
    });
  }

  it("are listed as different only with a reason, and only for protocols that are there", () => {
    for (const name of readdirSync(join(import.meta.dirname, "differences"))) {
      const id = name.replace(/\.json$/, "");
      assert.ok(
        protocols.some((protocol) => protocol.id === id),
        `no protocol ${id}`,
      );
      for (const { reason, unit, seq } of sheetOf(id).known ?? [])
        assert.ok(reason.length > 10, `${unit} ${seq}: a reason names the manual and the page`);
    }
  });
});
