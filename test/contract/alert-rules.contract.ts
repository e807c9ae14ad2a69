import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ruleTypes } from "../../src/alerts/rules/index.ts";
import { type Alarm, alarmNames } from "../../src/model/alarms.ts";
import type { Alert, AlertPhase } from "../../src/model/alert.ts";
import type {
  AlertCondition,
  AlertHysteresis,
  AlertRule,
  AlertSchedule,
  Comparable,
} from "../../src/model/alert-rule.ts";
import type { Report } from "../../src/model/effects.ts";
import { fuelTablesOf } from "../../src/model/fuel-table.ts";
import type { Zone } from "../../src/model/geofence.ts";
import type { Readings } from "../../src/model/readings.ts";
import { AlertLane, type Arrival, ruleOf } from "../support/alert-lane.ts";

/** Times are `[H:]MM:SS` after this moment, a Monday. */
export const start = Date.parse("2026-11-16T08:00:00Z");

/**
 * Something that happens to the device. A fix, unless `nowhere` (no position of its own) or `tick` (it is looked what
 * time alone made true).
 */
export interface TimelineStep {
  readonly at: string;
  /** When it arrives; absent: at once. In order of arrival, so a step may be older than the one before it. */
  readonly arrives?: string;
  readonly tick?: true;
  readonly nowhere?: true;
  readonly valid?: false;
  /** Degrees; absent: as before. */
  readonly latitude?: number;
  readonly longitude?: number;
  readonly altitude?: number;
  readonly speed?: number;
  readonly alarms?: readonly Alarm[];
  readonly readings?: Readings;
  readonly attributes?: Readonly<Record<string, Comparable>>;
}

/** What is expected, in the order of the steps that find it. */
export interface ExpectedAlert {
  readonly at: string;
  readonly phase?: AlertPhase;
  readonly late?: true;
  readonly facts: Alert["facts"];
}

/** A story of one device under one rule. */
export interface Timeline {
  readonly name: string;
  readonly parameters: AlertRule["parameters"];
  readonly hysteresis?: Partial<AlertHysteresis>;
  readonly conditions?: readonly AlertCondition[];
  readonly schedule?: AlertSchedule;
  readonly zones?: Readonly<Record<string, Zone>>;
  readonly device?: {
    readonly expires?: string;
    readonly odometerStart?: number;
    readonly tags?: Readonly<Record<string, string>>;
  };
  readonly steps: readonly TimelineStep[];
  readonly alerts: readonly ExpectedAlert[];
}

/** Epoch ms of a time of a timeline. */
export function momentOf(text: string): number {
  const sign = text.startsWith("-") ? -1 : 1;
  const parts = text.replace("-", "").split(":").map(Number);
  const seconds = parts.reduce((sum, part) => sum * 60 + part, 0);
  assert.ok(parts.length >= 2 && Number.isFinite(seconds), `a time is [H:]MM:SS, not ${text}`);
  return start + sign * seconds * 1000;
}

function fieldsOf(type: AlertRule["type"], timeline: Timeline): AlertRule {
  const { parameters, hysteresis, conditions = [], schedule = null } = timeline;
  return ruleOf({
    type,
    parameters,
    conditions,
    schedule,
    hysteresis: { holdSeconds: 0, rearmAt: null, cooldownSeconds: 0, ...hysteresis },
  });
}

/** A lane with the timeline's rule. */
export function laneOf(type: AlertRule["type"], timeline: Timeline): Promise<AlertLane> {
  const { zones, device = {} } = timeline;
  return new AlertLane([fieldsOf(type, timeline)], zones, {
    ...(device.expires !== undefined && { expires: momentOf(device.expires) }),
    ...(device.odometerStart !== undefined && { odometerStart: device.odometerStart }),
    ...(device.tags !== undefined && { fuelTables: fuelTablesOf(device.tags) }),
  }).ready();
}

/** Reports of the steps; a tick is its moment. */
export function arrivalsOf(steps: readonly TimelineStep[]): readonly (Arrival | number)[] {
  let [latitude, longitude] = [10, 10];
  return steps.map((step) => {
    const time = momentOf(step.at);
    if (step.tick) return time;
    latitude = step.latitude ?? latitude;
    longitude = step.longitude ?? longitude;
    const { alarms = [], readings = {}, attributes = {} } = step;
    for (const alarm of alarms) assert.ok(alarmNames.includes(alarm), `there is no alarm ${alarm}`);
    const told = { time, alarms, readings, attributes };
    const report: Report = step.nowhere
      ? { type: "readings", ...told }
      : {
          type: "fix",
          ...told,
          valid: step.valid ?? true,
          latitude,
          longitude,
          ...(step.speed !== undefined && { speed: step.speed }),
          ...(step.altitude !== undefined && { altitude: step.altitude }),
        };
    return { report, receivedAt: step.arrives === undefined ? time : momentOf(step.arrives) };
  });
}

function shown(alerts: readonly Alert[]): unknown {
  return alerts.map(({ time, phase, late, facts }) => ({
    at: new Date(time).toISOString().slice(11, 19),
    phase,
    late,
    facts,
  }));
}

function wanted(alerts: readonly ExpectedAlert[]): unknown {
  return alerts.map(({ at, phase = "raised", late = false, facts }) => ({
    at: new Date(momentOf(at)).toISOString().slice(11, 19),
    phase,
    late,
    facts,
  }));
}

/** Moments between the steps at which it is looked what time alone made true, s after the first. */
const looks = fc.array(fc.integer({ min: 0, max: 3600 }), { maxLength: 12 });

/** Delivers the steps in order, with looks between them. */
async function withLooks(type: AlertRule["type"], timeline: Timeline, seconds: readonly number[]): Promise<AlertLane> {
  const lane = await laneOf(type, timeline);
  const steps = arrivalsOf(timeline.steps);
  const last = steps.reduce<number>((latest, step) => Math.max(latest, timeOf(step)), 0);
  const ticks = seconds.map((second) => start + second * 1000).filter((time) => time < last);
  // A report comes before a look at its very moment: the look finds nothing that it would not have.
  const all = [...steps, ...ticks].sort((left, right) => timeOf(left) - timeOf(right));
  for (const step of all) {
    if (typeof step === "number") lane.tick(step);
    else lane.submit([step]);
  }
  return lane;
}

function timeOf(step: Arrival | number): number {
  return typeof step === "number" ? step : step.receivedAt;
}

/** What a trial over the lane's history finds. */
async function tried(type: AlertRule["type"], timeline: Timeline, lane: AlertLane): Promise<readonly Alert[]> {
  const now = Math.max(...arrivalsOf(timeline.steps).map(timeOf));
  const trial = lane.trial(now);
  const found: Alert[] = [];
  for await (const step of trial.run(fieldsOf(type, timeline), lane.device, { from: 0, to: now }))
    if (step.type === "alert") found.push(step.alert);
  return found;
}

function moments(alerts: readonly Alert[]): unknown {
  return alerts.map(({ time, phase }) => `${phase} ${new Date(time).toISOString()}`);
}

/**
 * The contract of a type of rule: its timelines, delivered step by step and twice over; with looks at any moments
 * between; and as a trial over the history that they leave.
 */
export function alertRuleContract(type: AlertRule["type"], timelines: readonly Timeline[]): void {
  describe(type, () => {
    it("has at least three timelines, of which one expects nothing", () => {
      assert.ok(timelines.length >= 3);
      assert.ok(timelines.some(({ alerts }) => alerts.length > 0));
    });
    for (const timeline of timelines) {
      it(timeline.name, async () => {
        const lane = await laneOf(type, timeline);
        for (const step of arrivalsOf(timeline.steps)) {
          if (typeof step === "number") lane.tick(step);
          else lane.submit([step]);
        }
        assert.deepEqual(shown(lane.alerts), wanted(timeline.alerts));
        const found = lane.alerts.length;
        for (const step of arrivalsOf(timeline.steps)) if (typeof step !== "number") lane.submit([step]);
        assert.equal(lane.alerts.length, found, "what was delivered once more raised something");
      });
    }
    const inOrder = timelines.filter(({ steps }) => steps.every(({ arrives }) => arrives === undefined));
    it("finds the same over the history", async () => {
      for (const timeline of inOrder) {
        const lane = await withLooks(type, timeline, []);
        assert.deepEqual(shown(await tried(type, timeline, lane)), shown(lane.alerts), timeline.name);
      }
    });
    if (ruleTypes[type].clock === "arrival") return;
    it("finds the same whenever it is looked", async () => {
      for (const timeline of inOrder) {
        const plain = moments((await withLooks(type, timeline, [])).alerts);
        await fc.assert(
          fc.asyncProperty(looks, async (seconds) => {
            assert.deepEqual(moments((await withLooks(type, timeline, seconds)).alerts), plain, timeline.name);
          }),
          { numRuns: 10 },
        );
      }
    });
  });
}
