import assert from "node:assert/strict";
import { it } from "node:test";
import { conditionRows, conditionsOf } from "./conditions.ts";

it("conditions that nobody touched stay, also a text that looks like a number", () => {
  const conditions = [
    { operator: "equal" as const, attribute: "ignition", value: true },
    { operator: "equal" as const, attribute: "driverCode", value: "007" },
    { operator: "greater" as const, attribute: "rpm", value: 2500.5 },
    { operator: "outside" as const, zone: "z1" },
  ];
  assert.deepEqual(conditionsOf(conditionRows(conditions)), conditions);
});

it("what is typed becomes a truth value, a number or a text; a row that names nothing is left out", () => {
  const row = { operator: "equal" as const, attribute: "", value: "", zone: "", stored: undefined };
  const rows = [
    { ...row, attribute: " ignition ", value: "false" },
    { ...row, attribute: "fuel", operator: "less" as const, value: " 12.5 " },
    { ...row, attribute: "driver", value: "Ana" },
    { ...row, operator: "inside" as const, zone: "z1", attribute: "fuel" },
    row,
    { ...row, operator: "inside" as const },
  ];
  assert.deepEqual(conditionsOf(rows), [
    { operator: "equal", attribute: "ignition", value: false },
    { operator: "less", attribute: "fuel", value: 12.5 },
    { operator: "equal", attribute: "driver", value: "Ana" },
    { operator: "inside", zone: "z1" },
  ]);
});
