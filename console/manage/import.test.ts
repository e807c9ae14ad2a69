import assert from "node:assert/strict";
import { it } from "node:test";
import { readCsv } from "./csv.ts";
import { rowsOf } from "./import.ts";

it("rows are devices, other columns are tags, and problems are named", () => {
  const csv = readCsv("id,name,aliases,driver\n1,Van,a b,Ana\n,No id,,\n1,Twice,,\n7,Old,,");
  const rows = rowsOf(csv, (id) => id === "7");
  assert.deepEqual(rows[0], {
    line: 2,
    body: { id: "1", name: "Van", description: null, min: null, aliases: ["a", "b"], tags: { driver: "Ana" } },
  });
  assert.deepEqual(
    rows.map(({ problem }) => problem),
    [undefined, "noId", "repeated", "known"],
  );
});
