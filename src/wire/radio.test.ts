import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsText, wifiText } from "./radio.ts";

test("cells have one form, in which what is not known is empty", () => {
  const cell = { mcc: 262, mnc: 1, lac: 4660, cellId: 22136 };
  assert.equal(cellsText([cell]), "262,1,4660,22136");
  assert.equal(cellsText([{ ...cell, signal: -90 }, cell]), "262,1,4660,22136,-90;262,1,4660,22136");
  assert.equal(cellsText([{ lac: 4660, cellId: 22136 }]), ",,4660,22136");
  assert.equal(cellsText([{ ...cell, signal: 0 }]), "262,1,4660,22136,0");
  assert.equal(cellsText([]), undefined);
});

test("access points have one form, however their address was written", () => {
  for (const mac of ["02-AB-00-00-00-01", "02:ab:00:00:00:01", "02Ab00000001"])
    assert.equal(wifiText([{ mac, signal: -60 }, { mac }]), "02:ab:00:00:00:01,-60;02:ab:00:00:00:01");
  assert.equal(wifiText([]), undefined);
});
