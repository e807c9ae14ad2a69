import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { h02 } from "./index.ts";

const context = { receivedAt: Date.UTC(2026, 1, 4), transport: "tcp", identified: true, options: {} } as const;

const reportOf = (body: string) => h02.connect().decode(bytesOfLatin1(`*HQ,1000000001,${body}#`), context)[1];

test("a speed or course that is none is kept as it was sent, and its position with it", () => {
  for (const [speed, course] of [
    ["-01.00", "361"],
    ["fast", "north"],
    ["99999", "-5"],
  ] as const) {
    const fix = reportOf(`V1,101630,A,5107.5000,N,01344.2500,E,${speed},${course},030226,FFFFFFFF`);
    assert.ok(fix?.type === "fix", `${speed} ${course}`);
    assert.deepEqual([fix.latitude, fix.speed, fix.course], [51.125, undefined, undefined]);
    assert.deepEqual([String(fix.attributes.speed), String(fix.attributes.course)], [speed, course].map(plain));
  }
});

test("a status that can't be read is kept with what the maker adds", () => {
  const fix = reportOf("V1,101630,A,5107.5000,N,01344.2500,E,010.50,090,030226,FFFBFF,7");
  assert.ok(fix?.type === "fix");
  assert.deepEqual([fix.alarms, fix.readings, fix.attributes], [[], {}, { extra: "FFFBFF,7" }]);
});

test("what can't be read in a LINK sentence does not hide the rest", () => {
  const report = reportOf("LINK,101630,180,x,50,1234,2,030226,FFFFFFFF");
  assert.ok(report?.type === "readings");
  assert.deepEqual([report.readings.battery, report.readings.steps, report.readings.signal], [50, 1234, undefined]);
  assert.deepEqual([report.attributes.signalRaw, report.attributes.satellitesRaw], ["180", "x"]);
});

/** A number as it prints. */
function plain(text: string): string {
  const value = Number(text);
  return Number.isNaN(value) ? text : String(value);
}
