import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fix } from "../model/effects.ts";
import { refusedText } from "./pending.ts";

const time = Date.UTC(2040, 0, 1);
const fix = (note: string): Fix => ({
  ...{ type: "fix", time, valid: true, latitude: 48.1, longitude: 11.5 },
  ...{ alarms: ["sos"], readings: { battery: 50 }, attributes: { note } },
});

test("a refused report's text has 4 KiB at most, in bytes; of a longer one its time, position and length are kept", () => {
  const room = 4096 - Buffer.byteLength(refusedText(fix("")));
  const whole = refusedText(fix("x".repeat(room)));
  assert.equal(Buffer.byteLength(whole), 4096);
  assert.equal(JSON.parse(whole).attributes.note.length, room);
  for (const [note, omittedBytes] of [
    ["x".repeat(room + 1), 4097],
    ["ä".repeat(room), 4096 + room],
  ] as const) {
    const cut = JSON.parse(refusedText(fix(note)));
    const { latitude, longitude, time: at, attributes, readings, alarms } = cut;
    assert.deepEqual([at, latitude, longitude], ["2040-01-01T00:00:00.000Z", 48.1, 11.5]);
    assert.deepEqual([attributes, readings, alarms], [{ omittedBytes }, {}, []]);
  }
});
