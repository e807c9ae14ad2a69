import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AlertRule, AlertRuleFields } from "../../src/model/alert-rule.ts";
import type { Fix } from "../../src/model/effects.ts";
import { AlertLane, type Arrival, ruleOf } from "../support/alert-lane.ts";

const start = Date.parse("2026-11-16T08:00:00Z");
const minute = 60_000;
const people = {
  email: [{ to: "one@example.test", language: null, timeZone: null, units: "metric" }],
  sms: [],
  webhook: [],
} as const;

/** A fix, `at` minutes after the start, with a speed. `arrives`: the minute of its arrival. */
function fix(at: number, speed: number, arrives: number, alarms: Fix["alarms"] = []): Arrival {
  const place = { valid: true, latitude: 10, longitude: 10, speed } as const;
  const report = { type: "fix", time: start + at * minute, ...place, alarms, readings: {}, attributes: {} } as const;
  return { report, receivedAt: start + arrives * minute };
}

function speeding(fields: Partial<Omit<AlertRuleFields, "type" | "parameters">> = {}, key = 1, kmh = 80) {
  return ruleOf({ type: "speedOver", parameters: { kmh }, notifyWhenOver: false, ...fields }, key);
}

describe("a rule that changes, with late reports", () => {
  /** Speeding in the tenth minute and in the thirtieth, each for a minute; otherwise slow, each minute. */
  const drive = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => fix(from + at, [10, 30].includes(from + at) ? 90 : 50, 200));

  async function laneOf(rule: AlertRule) {
    const rules = [rule];
    const lane = await new AlertLane(rules).ready();
    const change = async (now: AlertRule) => {
      rules.splice(0, 1, now);
      lane.bus.publish({ type: "rulesChanged", accountKey: 1 });
      await lane.engine.prepare([1]);
    };
    return { lane, change };
  }

  const times = (lane: AlertLane) => lane.alerts.map(({ time, phase }) => `${phase} ${(time - start) / minute}`);

  it("tells of nothing from before it was made, and of what came behind", async () => {
    const { lane, change } = await laneOf(speeding({ enabled: false }));
    lane.submit(drive(0, 25).filter(({ report }) => report.time !== start + 10 * minute));
    await change({ ...speeding(), revision: 2 });
    lane.submit(drive(25, 40).filter(({ report }) => report.time !== start + 30 * minute));
    lane.submit([fix(10, 90, 201), fix(30, 90, 201)]);
    assert.deepEqual(times(lane), ["raised 30"]);
  });

  it("judges as before under another name, and tells nothing again", async () => {
    const { lane, change } = await laneOf(speeding());
    lane.submit(drive(0, 40).filter(({ report }) => report.time !== start + 20 * minute));
    await change({ ...speeding({ name: "Fast", text: "{{AlertText}}", channels: people }), revision: 2 });
    lane.submit([fix(5.5, 50, 201), fix(20, 95, 201)]);
    assert.deepEqual(times(lane), ["raised 10", "raised 30", "raised 20"]);
    assert.equal(lane.notices.length, 1);
  });

  it("does not go on from what it knew when it watched before", async () => {
    const watching = speeding({ notifyWhenOver: true });
    const { lane, change } = await laneOf(watching);
    lane.spacing = 8;
    lane.submit(Array.from({ length: 11 }, (_, at) => fix(at, at < 5 ? 50 : 90, 200)));
    await change({ ...watching, enabled: false, revision: 2 });
    lane.submit([fix(11, 90, 200), fix(12, 90, 200)]);
    await change({ ...watching, revision: 3 });
    lane.submit([fix(13, 50, 200), fix(14, 50, 200)]);
    lane.submit([fix(12.5, 50, 201)]);
    assert.deepEqual(times(lane), ["raised 5"]);
  });

  it("does not make a review longer that comes to what is kept of others", async () => {
    const other = speeding({}, 2);
    // It stands raised all the time.
    const rules = [speeding({}, 1, 40), other];
    const lane = await new AlertLane(rules).ready();
    lane.spacing = 4;
    lane.submit(drive(0, 100));
    rules.splice(0, 1, { ...speeding(), revision: 2 });
    lane.bus.publish({ type: "rulesChanged", accountKey: 1 });
    await lane.engine.prepare([1]);
    lane.submit(drive(100, 110));
    const before = lane.reviewed;
    lane.submit([fix(50.5, 50, 201)]);
    assert.ok(lane.reviewed - before <= 12, `${lane.reviewed - before}`);
  });
});

describe("late episodes", () => {
  it("apart from each other are each told once, and so is a crash between two that were told", async () => {
    const crash = ruleOf({ type: "alarm", parameters: { alarms: ["accident"] }, channels: people }, 2);
    const lane = await new AlertLane([speeding({ channels: people }), crash]).ready();
    const at = (time: number, speed: number, arrives: number) =>
      fix(time, speed, arrives, speed > 80 ? ["accident"] : []);
    lane.submit([at(0, 50, 100), at(10, 90, 100), at(11, 50, 100), at(50, 90, 100), at(51, 50, 100)]);
    for (const from of [20, 30]) lane.submit([at(from, 90, 101), at(from + 1, 50, 101)]);
    lane.submit([at(20, 90, 102), at(40, 50, 102)]);
    lane.submit([at(25, 50, 103)]);
    const noticed = lane.notices.flatMap(({ alertId, target }) =>
      target.channel === "email" ? lane.alerts.filter(({ id }) => id === alertId) : [],
    );
    for (const key of [1, 2]) {
      const told = noticed.filter(({ ruleKey }) => ruleKey === key).map(({ time }) => (time - start) / minute);
      assert.deepEqual(told, [10, 50, 20, 30], `rule ${key}`);
    }
  });
});
