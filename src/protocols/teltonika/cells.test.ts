import assert from "node:assert/strict";
import { test } from "node:test";
import { withCell } from "./cells.ts";

test("the elements of the serving cell become one attribute", () => {
  const cell = { gsmCellId: 22136, gsmAreaCode: 4660 };
  assert.deepEqual(withCell({ event: 1, ...cell, activeGsmOperator: 24602 }), { event: 1, cells: "246,2,4660,22136" });
  assert.deepEqual(withCell({ ...cell, activeGsmOperator: 310260 }), { cells: "310,260,4660,22136" });
  assert.deepEqual(withCell(cell), { cells: ",,4660,22136" });
  assert.deepEqual(withCell({ ...cell, umtsCellId: 5658232 }), { cells: ",,4660,5658232" });
  assert.deepEqual(withCell({ ...cell, umtsCellId: 0 }), { cells: ",,4660,22136" });
  assert.deepEqual(withCell({ gsmCellId: 22136 }), { cells: ",,,22136" });
});

test("an operator alone stays, and one that is none too", () => {
  for (const attributes of [{ activeGsmOperator: 24602 }, { event: 1 }]) assert.equal(withCell(attributes), attributes);
  const none = { gsmCellId: 0, gsmAreaCode: 0 };
  assert.deepEqual(withCell({ ...none, activeGsmOperator: 0 }), { activeGsmOperator: 0 });
  const some = { gsmCellId: 1, gsmAreaCode: 2, activeGsmOperator: 1 };
  assert.deepEqual(withCell(some), { activeGsmOperator: 1, cells: ",,2,1" });
});
