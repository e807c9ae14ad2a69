import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Alert } from "../../src/model/alert.ts";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import type { Report } from "../../src/model/effects.ts";
import { AlertLane, type Arrival, ruleOf } from "../support/alert-lane.ts";
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
import { chance } from "../support/chance.ts";
import { runs } from "../support/runs.ts";
import { compareNotices, compareOpen, compareTold } from "../support/told-and-tried.ts";

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
  /**
   * How often the test looks for what time alone made true, and how long after the last report: packets may come later
   * than what they tell.
   */
  looks: fc.constantFrom(0, 0.3),
  quietMs: fc.constantFrom(500, 30_000),
  /** Records from one point to the next, and how many points a review goes over at a time. */
  spacing: fc.constantFrom(4, 16),
  pointsOfTurn: fc.constantFrom(1, 3, Number.POSITIVE_INFINITY),
});

type Random = { readonly random: () => number };
type Drawn = typeof cases extends fc.Arbitrary<infer T> ? T : never;
type Case = Omit<Drawn, "quietMs" | "spacing" | "pointsOfTurn"> & {
  readonly quietMs: number;
  readonly spacing: number;
  readonly pointsOfTurn: number;
};

async function tried(lane: AlertLane, rule: AlertRule, trial = lane.trial(lane.now)): Promise<readonly Alert[]> {
  const found: Alert[] = [];
  for await (const step of trial.run(rule, lane.device, { from: 0, to: lane.now }))
    if (step.type === "alert") found.push(step.alert);
  return found;
}

/** Delivers packets, one commit each, all after the last report's time. */
async function deliver(
  packets: readonly (readonly Report[])[],
  { reviews, looks, quietMs, spacing, pointsOfTurn, random }: Omit<Case, "scenes" | "seed" | "way"> & Random,
): Promise<AlertLane> {
  const lane = await new AlertLane(storyRules, storyZones).ready();
  lane.reviewsAtOnce = reviews === "at once";
  lane.spacing = spacing;
  lane.pointsOfTurn = pointsOfTurn;
  const last = packets.flat().reduce((latest, { time }) => Math.max(latest, time ?? 0), storyBegins);
  packets.forEach((packet, at) => {
    lane.submit(packet.map((report) => ({ report, receivedAt: Math.max(lane.now + 1000, last + at * 1000) })));
    if (random() < looks) lane.tick(lane.now + quietMs);
    if (reviews === "at times" && random() < 0.2) lane.review();
  });
  lane.review();
  // A trial finds alerts ahead of the device's own time only when that time has come.
  const latest = lane.alerts.reduce((most, { time }) => Math.max(most, time), 0);
  lane.tick(lane.now + Math.max(3_600_000, latest - lane.standing.time));
  return lane;
}

async function isToldAsTried({ scenes: parts, seed, way, ...rest }: Case): Promise<void> {
  const random = chance(seed);
  const story = storyOf(parts, random);
  const lane = await deliver(packetsOf(story, way, random), { ...rest, random });
  assert.equal(lane.settled, lane.settledAnew, "states of rules");
  const noticed = new Set(lane.notices.map(({ alertId }) => alertId));
  const trial = lane.trial(lane.now);
  for (const rule of storyRules) {
    const own = lane.alerts.filter(({ ruleKey }) => ruleKey === rule.key);
    const found = await tried(lane, rule, trial);
    compareTold(rule, own, found);
    compareNotices(rule, own, found, noticed);
    compareOpen(rule, own, found, lane.handling);
  }
  assert.equal(noticed.size, lane.notices.length, "one notice of an alert");
  for (const { id, phase } of lane.alerts) if (phase === "withdrawn") assert.ok(!noticed.has(id));
  if (way === "in order" && (rest.looks === 0 || rest.quietMs === 500))
    assert.ok(lane.alerts.every(({ late, id }) => !late && noticed.has(id)));
}

test("what was told of a history is what a trial tells of it, in whatever order it came", async () => {
  await fc.assert(fc.asyncProperty(cases, isToldAsTried), { numRuns: runs(300) });
});

/** Scenes in short: "drive 2, stop 3" is two reports of a drive, then three of a stop. */
function scenesIn(text: string): Scene[] {
  return text.split(", ").map((scene) => {
    const [name, reports] = scene.split(" ");
    const act = acts.find((one) => one === name);
    assert.ok(act, scene);
    return { act, reports: Number(reports) };
  });
}

function caseOf(story: string, seed: number, way: Case["way"], changes: Partial<Case> = {}): Case {
  return {
    reviews: "at once",
    looks: 0,
    quietMs: 500,
    spacing: 16,
    pointsOfTurn: 3,
    ...changes,
    seed,
    way,
    scenes: scenesIn(story),
  };
}

/** Cases that the property once found. */
const found: Readonly<Record<string, Case>> = {
  "a report that contradicts what time alone made true at the same moment": caseOf(
    "idle 36, stop 23, wire 29, drive 2, noSignal 17, drive 5",
    -1379940517,
    "in order",
    { looks: 0.3, quietMs: 30_000 },
  ),
  "a report within the cooldown, long after the report before": caseOf(
    "drive 19, drive 27, drive 30, silent 12, drain 4",
    -1167002575,
    "live first",
    { looks: 0.3, quietMs: 900_000 },
  ),
  "an alarm that is repeated and turns out to have begun earlier": caseOf(
    "drive 2, drive 12",
    -2147483644,
    "newest first",
  ),
  "a driver who seems to begin again because records are missing": caseOf(
    "drive 1, drive 28, drive 16",
    -1606418431,
    "newest first",
  ),
  "a drain that turns out to have begun earlier, in a part without records": caseOf(
    "drain 23, drive 25, stop 26, silent 10, silent 9, wire 4",
    -1936958318,
    "live first",
  ),
  "a drain over a gap that turns out to have begun in the gap, earlier than the rule looks back": caseOf(
    "wire 4, noSignal 37, silent 6, race 28, stop 30, silent 28, drain 26, silent 21, noSignal 24, drain 12, fill 26, fill 16",
    1704939379,
    "shuffled packets",
    { reviews: "at times", quietMs: 900_000 },
  ),
};

for (const [name, story] of Object.entries(found))
  test(`is told as a trial finds it: ${name}`, () => isToldAsTried(story));

test("reviews stay short if a device keeps reporting moments before what time alone made true", async () => {
  const rule = ruleOf({ type: "inputAccumulated", parameters: { input: 1, minutes: 20, repeat: true } });
  const lane = await new AlertLane([rule]).ready();
  const report = (second: number): Arrival => {
    const told = { alarms: [], readings: { input1: true }, attributes: {} };
    return { report: { type: "readings", time: storyBegins + second * 1000, ...told }, receivedAt: lane.now + 1000 };
  };
  lane.now = storyBegins;
  lane.submit([report(0)]);
  lane.tick(lane.now + 10 * 3_600_000);
  lane.reviewsAtOnce = false;
  for (let second = 1; second <= 500; second++) {
    lane.submit([report(second)]);
    const before = lane.reviewed;
    lane.review();
    assert.ok(lane.reviewed - before <= 2 * lane.spacing, `${second}: ${lane.reviewed - before}`);
  }
});

test("what time alone made true before a packet of older reports is told once, and withdrawn if the packet shows otherwise", async () => {
  const rule = ruleOf({ type: "notMoving", parameters: { minutes: 5 } });
  const report = (minute: number, speed: number): Arrival => {
    const time = storyBegins + minute * 60_000;
    const told = { alarms: [], readings: {}, attributes: {} };
    const latitude = 10 + (speed * minute) / 100_000;
    return { report: { type: "fix", time, valid: true, latitude, longitude: 10, speed, ...told }, receivedAt: time };
  };
  for (const [speed, told] of [
    [0, ["raised"]],
    [50, ["raised", "over", "withdrawn", "withdrawn"]],
  ] as const) {
    const lane = await new AlertLane([rule]).ready();
    lane.submit([0, 1, 2].map((minute) => report(minute, 0)));
    lane.tick(storyBegins + 8 * 60_000);
    lane.submit([3, 4, 5, 6, 7, 8].map((minute) => ({ ...report(minute, speed), receivedAt: lane.now })));
    assert.deepEqual(
      lane.alerts.map(({ phase }) => phase),
      told,
    );
    assert.deepEqual((await tried(lane, rule)).length, speed === 0 ? 1 : 0);
  }
});
