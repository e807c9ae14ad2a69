import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AlertLane, type Arrival, ruleOf } from "../../../test/support/alert-lane.ts";
import { type FuelStory, fuelReports } from "../../../test/support/fuel-stories.ts";

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

/**
 * Points drawn off each minute, more than the noise of a sensor; without the last of them, which a median may not tell,
 * still 10 in all.
 */
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

/** What rules of 10 points within 20 minutes tell of a day. */
async function toldOf(story: FuelStory): Promise<readonly string[]> {
  const parameters = { tank: 1, points: 10, minutes: 20 } as const;
  const lane = await new AlertLane([
    ruleOf({ type: "fuelDecrease", parameters }, 1),
    ruleOf({ type: "fuelIncrease", parameters }, 2),
  ]).ready();
  lane.submit(fuelReports(story, start));
  return lane.alerts.filter(({ phase }) => phase === "raised").map(({ type }) => type);
}

const seeds = [1, 2, 3, 4, 5, 6];
const usual = { use: 8, every: 1 } as const;

for (const noise of [1, 2, 3, 4])
  test(`steady use, slopes and noise of ${noise} points give nothing, reported each minute or every ten`, async () => {
    for (const seed of seeds)
      for (const every of [1, 10])
        for (const slope of [0, 2]) {
          const story = { ...usual, seed, noise, every, slope };
          assert.deepEqual(await toldOf(story), [], JSON.stringify(story));
        }
  });

for (const noise of [0.5, 1, 2])
  test(`what is drawn off or filled while it is parked is told once, in spite of noise of ${noise} points, also with a report every ten minutes`, async () => {
    for (const seed of seeds)
      for (const every of [1, 10]) {
        const story = { ...usual, seed, noise, every };
        const drained = { ...story, events: [{ at: 400, points: -25, lasts: 8 }] };
        assert.deepEqual(await toldOf(drained), ["fuelDecrease"], JSON.stringify(drained));
        const filled = { ...story, events: [{ at: 400, points: 30, lasts: 4 }] };
        assert.deepEqual(await toldOf(filled), ["fuelIncrease"], JSON.stringify(filled));
      }
  });

test("what is drawn off while nothing is heard of a parked vehicle is told once", async () => {
  for (const seed of seeds)
    for (const every of [1, 10]) {
      const events = [{ at: 400, points: -25, lasts: 8 }];
      const story: FuelStory = { ...usual, seed, noise: 1, every, events, gap: [350, 500] };
      assert.deepEqual(await toldOf(story), ["fuelDecrease"], JSON.stringify(story));
    }
});
