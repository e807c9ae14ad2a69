import assert from "node:assert/strict";
import { test } from "node:test";
import { ownPortsOf } from "./own-ports.ts";

const cases: readonly (readonly [string, readonly (readonly [string, number])[] | undefined])[] = [
  ["", []],
  ["teltonika=5027", [["teltonika", 5027]]],
  [
    "teltonika=5027,gt06=65535 , h02=1",
    [
      ["teltonika", 5027],
      ["gt06", 65_535],
      ["h02", 1],
    ],
  ],
  [
    "gt06=0,h02=0",
    [
      ["gt06", 0],
      ["h02", 0],
    ],
  ],
  ["gt06=65536", undefined],
  ["gt06=05023", undefined],
  ["gt06:5023", undefined],
  ["gt06=5023,", undefined],
  ["gt06=5023,gt06=5024", undefined],
  ["gt06=5023,h02=5023", undefined],
  ["GT06=5023", undefined],
];

for (const [text, ports] of cases)
  test(`own ports of ${JSON.stringify(text)}`, () => {
    assert.deepEqual(ownPortsOf(text), ports && new Map(ports));
  });
