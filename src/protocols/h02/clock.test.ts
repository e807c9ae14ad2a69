import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfLatin1 } from "../../wire/reader.ts";
import { h02 } from "./index.ts";

const context = { receivedAt: Date.UTC(2026, 1, 4), transport: "tcp", identified: true, options: {} } as const;

const effects = (time: string, date: string) =>
  h02
    .connect()
    .decode(
      bytesOfLatin1(`*HQ,1000000001,V1,${time},A,5107.5000,N,01344.2500,E,010.50,090,${date},FFFBFFFF#`),
      context,
    );

test("a report whose date or time no calendar and no clock has is acknowledged: its position is one of a clock that was never set, its readings and alarms are of now", () => {
  for (const [time, date] of [
    ["101630", "112326"],
    ["101630", "310226"],
    ["101630", "990099"],
    ["256199", "030226"],
  ] as const) {
    const given = effects(time, date);
    assert.deepEqual(
      given.map(({ type }) => type),
      ["identify", "fix", "readings", "reply"],
      `${date} ${time}`,
    );
    const [, fix, readings] = given;
    assert.ok(fix?.type === "fix" && readings?.type === "readings");
    assert.equal(fix.time, 0);
    assert.deepEqual([fix.latitude, fix.longitude], [51.125, 13.7375]);
    assert.deepEqual(fix.attributes, { reportedDate: date, reportedTime: time });
    assert.equal(readings.time, undefined);
    assert.equal(readings.readings.ignition, true);
    assert.deepEqual([fix.alarms, readings.alarms], [[], ["sos"]]);
  }
});

test("what is no date at all is a damaged message", () => {
  for (const date of ["0302", "03022", "03O226", "0302261", "-10226"])
    assert.deepEqual(effects("101630", date), [{ type: "failure", cause: "malformed" }], date);
});
