import assert from "node:assert/strict";
import { test } from "node:test";
import { fuelTablesOf, litresAt, parseFuelTable } from "./fuel-table.ts";

test("litres lie on the line between two points of the table, and beyond it they are what its end says", () => {
  const table = parseFuelTable("analog1 0.5:0 1.5:40  4.5:100");
  assert.ok(typeof table !== "string");
  assert.deepEqual([table.reading, table.full], ["analog1", 100]);
  const raws = [-1, 0.5, 1, 1.5, 3, 4.5, 9];
  assert.deepEqual(
    raws.map((raw) => litresAt(table, raw)),
    [0, 0, 20, 40, 70, 100, 100],
  );
});

test("a sender whose resistance falls while the tank is filled has a table too, in any order", () => {
  const table = parseFuelTable("io9 10:120 180:0 90:60");
  assert.ok(typeof table !== "string");
  assert.deepEqual(
    [5, 10, 50, 90, 135, 200].map((raw) => litresAt(table, raw)),
    [120, 120, 90, 60, 30, 0],
  );
});

test("what is no table says why", () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ["", /name of a reading/],
    ["0:0 1:10", /name of a reading/],
    ["analog1", /2 to 64 pairs/],
    ["analog1 0:0", /2 to 64 pairs/],
    ["analog1 0:0 1:ten", /2 to 64 pairs/],
    ["analog1 0:0 1:2:3", /2 to 64 pairs/],
    [`analog1 ${Array.from({ length: 65 }, (_, at) => `${at}:${at}`).join(" ")}`, /2 to 64 pairs/],
    ["analog1 0:0 0:10", /twice/],
    ["analog1 0:-5 1:10", /from 0 up/],
    ["analog1 0:0 1:0", /more than 0/],
    ["analog1 0:0 1:50 2:20", /rise or fall/],
  ];
  for (const [text, why] of wrong) assert.match(String(parseFuelTable(text)), why, text);
});

test("tags of a device hold the tables of its tanks; a wrong one is not used", () => {
  assert.equal(fuelTablesOf({ model: "x" }), undefined);
  assert.equal(fuelTablesOf({ fuelTable: "nonsense" }), undefined);
  const [first, second] = fuelTablesOf({ fuelTable2: "analog2 0:0 5:80" }) ?? [];
  assert.deepEqual([first, second?.full], [undefined, 80]);
});
