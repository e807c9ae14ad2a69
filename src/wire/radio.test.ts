import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsText, putCsq, wifiText } from "./radio.ts";
import { draft } from "./report.ts";

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

test("the signal of GSM is dBm where it was measured", () => {
  for (const [value, rssi] of [
    [1, -111],
    [31, -51],
    [0, undefined],
    [99, undefined],
  ] as const) {
    const report = draft();
    putCsq(report, "rssi", value, "csq");
    assert.deepEqual([report.readings.rssi, report.attributes.csq], [rssi, rssi === undefined ? value : undefined]);
  }
});
