import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fix } from "../model/effects.ts";
import type { Admitted } from "../ports/intake.ts";
import { Pending, PendingDevice, refusedText } from "./pending.ts";

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

test("what is left over goes first, and whatever gathers behind is handed on, also where two tries of one device leave something over", () => {
  const device = { key: 1 } as Admitted;
  const told: string[] = [];
  const message = (to: PendingDevice, name: string) => {
    const judging = { maxFutureMs: 0, watched: false, dropped: () => {} };
    to.add([fix(name)], time, judging, (outcome) => told.push(`${name} ${outcome}`));
  };
  const pending = new Pending();
  const commit = () => {
    const next = pending.take(1);
    assert.ok(next);
    const { length } = next.drafts;
    next.answer("stored", () => assert.fail());
    return length;
  };
  for (const name of ["first", "second"]) {
    const tried = new PendingDevice(device);
    message(tried, name);
    message(pending.of(device), `behind ${name}`);
    pending.putBack(tried, tried.drafts);
  }
  const next = new Pending();
  pending.passOn(next);
  assert.equal(next.of(device).drafts.length, 2);
  assert.deepEqual([commit(), commit(), pending.empty], [2, 2, true]);
  assert.deepEqual(told, ["first stored", "second stored", "behind first stored", "behind second stored"]);
});
