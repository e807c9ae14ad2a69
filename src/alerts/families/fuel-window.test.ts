import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AlertLane, type Arrival, ruleOf } from "../../../test/support/alert-lane.ts";

const minuteMs = 60_000;
const start = Date.parse("2026-11-16T08:00:00Z");
const full = 95;

function reading(minute: number, fuel: number): Arrival {
  const time = start + minute * minuteMs;
  const told = { alarms: [], attributes: {}, readings: { fuel, ignition: false } };
  return {
    report: { type: "fix", time, valid: true, latitude: 10, longitude: 10, speed: 0, ...told },
    receivedAt: time,
  };
}

/** Points drawn off each minute, more than the noise of a sensor; without the last of them, which a median may not tell, still 10 in all. */
const drains = fc.array(fc.integer({ min: 3, max: 6 }), { minLength: 5, maxLength: 10 });

test("whatever is drawn off is told once: wholly where it settles, within the rule's minutes after it began, also where nothing follows", async () => {
  await fc.assert(
    fc.asyncProperty(drains, fc.integer({ min: 0, max: 8 }), async (drain, still) => {
      const rule = ruleOf({ type: "fuelDecrease", parameters: { tank: 1, points: 10, minutes: 20 } });
      const lane = await new AlertLane([rule]).ready();
      const levels = [full, full, full, full];
      for (const points of drain) levels.push((levels.at(-1) ?? full) - points);
      const rest = levels.at(-1) ?? full;
      for (let count = 0; count < still; count++) levels.push(rest);
      levels.forEach((fuel, minute) => {
        lane.submit([reading(minute, fuel)]);
      });
      lane.tick(start + 60 * minuteMs);
      const [alert, ...more] = lane.alerts;
      assert.deepEqual(more, []);
      assert.ok(alert !== undefined);
      assert.ok(alert.time <= start + (3 + 20) * minuteMs);
      assert.equal(alert.facts.from, full);
      // The level is a median: of a drain that nothing follows, the last reading is not yet known to be one.
      if (still > 0) assert.equal(alert.facts.to, rest);
    }),
    { numRuns: 60 },
  );
});
