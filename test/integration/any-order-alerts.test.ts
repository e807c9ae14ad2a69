import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import type { Report } from "../../src/model/effects.ts";
import { AlertLane } from "../support/alert-lane.ts";
import {
  acts,
  packetsOf,
  type Scene,
  storyBegins,
  storyOf,
  storyRules,
  storyZones,
  ways,
} from "../support/alert-stories.ts";
import { chance } from "../support/any-order.ts";
import { compareNotices, compareRaised } from "../support/told-and-tried.ts";

const scenes: fc.Arbitrary<Scene[]> = fc.array(
  fc.record({ act: fc.constantFrom(...acts), reports: fc.integer({ min: 1, max: 40 }) }),
  { minLength: 1, maxLength: 16 },
);

const cases = fc.record({
  scenes,
  seed: fc.integer(),
  way: fc.constantFrom(...ways),
  /** After each commit, now and then, or once all is there. */
  reviews: fc.constantFrom("at once", "at times", "at the end"),
  /** How often it is looked what time alone made true. */
  looks: fc.constantFrom(0, 0.3),
});

async function tried(lane: AlertLane, rule: AlertRule): Promise<readonly Alert[]> {
  const found: Alert[] = [];
  for await (const step of lane.trial(lane.now).run(rule, lane.device, { from: 0, to: lane.now }))
    if (step.type === "alert") found.push(step.alert);
  return found;
}

/** Delivers packets, one commit each, all after the last report's time. */
async function deliver(
  packets: readonly (readonly Report[])[],
  { reviews, looks, random }: { readonly reviews: string; readonly looks: number; readonly random: () => number },
): Promise<AlertLane> {
  const lane = await new AlertLane(storyRules, storyZones).ready();
  lane.reviewsAtOnce = reviews === "at once";
  const last = packets.flat().reduce((latest, { time }) => Math.max(latest, time ?? 0), storyBegins);
  packets.forEach((packet, at) => {
    lane.submit(packet.map((report) => ({ report, receivedAt: last + at * 1000 })));
    if (random() < looks) lane.tick(lane.now + 500);
    if (reviews === "at times" && random() < 0.2) lane.review();
  });
  lane.review();
  lane.tick(lane.now + 3_600_000);
  return lane;
}

test("what was told of a history is what a trial tells of it, in whatever order it came", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ scenes: parts, seed, way, reviews, looks }) => {
      const random = chance(seed);
      const story = storyOf(parts, random);
      const lane = await deliver(packetsOf(story, way, random), { reviews, looks, random });
      const noticed = new Set(lane.notices.map(({ alertId }) => alertId));
      for (const rule of storyRules) {
        const own = lane.alerts.filter(({ ruleKey }) => ruleKey === rule.key);
        const found = await tried(lane, rule);
        compareRaised(rule, own, found);
        compareNotices(rule, own, found, noticed);
      }
      assert.equal(noticed.size, lane.notices.length, "one notice of an alert");
      for (const { id, phase } of lane.alerts) if (phase === "withdrawn") assert.ok(!noticed.has(id));
      if (way === "in order") assert.ok(lane.alerts.every(({ late, id }) => !late && noticed.has(id)));
    }),
    { numRuns: 60 },
  );
});
