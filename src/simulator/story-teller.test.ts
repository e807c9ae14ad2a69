import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { stories } from "../../test/support/stories.ts";
import { framesOf } from "../../test/support/vectors.ts";
import type { Effect, Fix } from "../model/effects.ts";
import { readingRows } from "../model/readings.ts";
import { protocols } from "../protocols/index.ts";
import type { AnyProtocol, SimulatedReport } from "../wire/protocol.ts";
import { Replay } from "../wire/replay.ts";
import type { Story, StoryTracker } from "./story.ts";
import { readStory } from "./story-input.ts";
import { type Telling, tell, untold } from "./story-teller.ts";

const begin = Date.UTC(2026, 10, 21, 10);
const able = protocols.filter(({ simulate }) => simulate?.carries !== undefined);
const ids = able.map(({ id }) => id);

function storyOf(value: unknown): Story {
  const read = readStory(value, able);
  assert.ok("story" in read, "problems" in read ? read.problems.join("\n") : "");
  return read.story;
}

/** The first tracker of a story of this one alone. */
function only(tracker: object, more: object = {}): StoryTracker {
  const common = { name: "Truck", place: { latitude: 4, longitude: -74 } };
  const [first] = storyOf({ title: "t", end: "+20m", trackers: [{ ...common, ...tracker }], ...more }).trackers;
  assert.ok(first);
  return first;
}

function tellings(tracker: StoryTracker, length = 1_200_000): readonly Telling[] {
  return [...tell(tracker, length, begin)];
}

/** The fixes that are understood of reports, sent as the tracker would. */
function decoded(protocol: AnyProtocol, reports: readonly SimulatedReport[]): readonly Fix[] {
  const { simulate } = protocol;
  assert.ok(simulate);
  const transport = protocol.transports.includes("tcp") ? "tcp" : (protocol.transports[0] ?? "tcp");
  const replay = new Replay(protocol, { transport, receivedAt: begin, identified: true, options: {} });
  const frames = framesOf(protocol, transport, simulate.report("990000000000019", reports, 2));
  return frames.flatMap((frame): readonly Effect[] => replay.message(frame)).filter((effect) => effect.type === "fix");
}

function assertTold(protocol: AnyProtocol, fix: Fix, report: SimulatedReport): void {
  assert.equal(fix.time, report.time);
  assert.ok(Math.abs(fix.latitude - report.latitude) < 1e-5 && Math.abs(fix.longitude - report.longitude) < 1e-5);
  assert.ok(Math.abs((fix.speed ?? 0) - report.speed) <= 0.5, `speed ${fix.speed}, told ${report.speed}`);
  for (const [name, value] of Object.entries(report.readings ?? {}))
    for (const reading of protocol.simulate?.carries?.readings ?? [])
      if (reading === name) assert.equal(fix.readings[reading], value, name);
  if (report.alarm !== undefined && protocol.simulate?.carries?.alarms.includes(report.alarm))
    assert.deepEqual(fix.alarms, [report.alarm]);
}

test("any story is told wholly, in the order of time, and what is decoded again is what the story says", () => {
  fc.assert(
    fc.property(stories(ids), (written) => {
      const story = storyOf(written);
      for (const tracker of story.trackers) {
        const told = tellings(tracker, story.length);
        const times = told.map(({ at }) => at);
        assert.deepEqual(
          times,
          times.toSorted((left, right) => left - right),
        );
        for (let at = 0; at <= story.length; at += tracker.interval) assert.ok(times.includes(at), `nothing at ${at}`);
        for (const act of tracker.acts) assert.ok(times.includes(act.at));
        assert.equal(times.at(-1), story.length);
        const alarms = told.flatMap(({ report }) => report.alarm ?? []);
        assert.deepEqual(
          alarms,
          tracker.acts.flatMap((act) => (act.do === "alarm" ? [act.alarm] : [])),
        );
        const reports = told.map(({ report }) => report);
        for (let at = 0; at < reports.length; at += 20) {
          const part = reports.slice(at, at + 20);
          const fixes = decoded(tracker.protocol, part);
          assert.equal(fixes.length, part.length);
          for (const [index, fix] of fixes.entries()) {
            const report = part[index];
            if (report !== undefined) assertTold(tracker.protocol, fix, report);
          }
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("a probe of exactly 85 °C is not lost: it is what one without a value says", () => {
  const [teltonika] = able.filter(({ id }) => id === "teltonika");
  assert.ok(teltonika);
  const [told] = tellings(only({ readings: { temperature: 85 } }));
  assert.ok(told);
  assert.equal(decoded(teltonika, [told.report])[0]?.readings.temperature, 85.1);
});

test("every reading and alarm that a protocol says it carries is understood", () => {
  const values = { boolean: [true, false], number: [12], string: ["A1"] } as const;
  const place = { latitude: 1, longitude: 2, altitude: 3, speed: 0, course: 0 };
  const report = { ...place, time: begin, satellites: 9, ignition: false, battery: 90 };
  for (const protocol of able) {
    for (const name of protocol.simulate?.carries?.readings ?? [])
      for (const value of values[readingRows[name].kind]) {
        const [fix] = decoded(protocol, [{ ...report, readings: { [name]: value } }]);
        assert.equal(fix?.readings[name], value, `${protocol.id} ${name}`);
      }
    for (const alarm of protocol.simulate?.carries?.alarms ?? [])
      assert.deepEqual(decoded(protocol, [{ ...report, alarm }])[0]?.alarms, [alarm], `${protocol.id} ${alarm}`);
  }
});

test("a drive goes along its line at its speed, has the ignition on, and its arrival is told", () => {
  const along = [
    { latitude: 4, longitude: -73.99 },
    { latitude: 4.01, longitude: -73.99 },
  ];
  const told = tellings(only({ interval: 60, acts: [{ at: "+1m", do: "drive", along, speed: 36 }] }));
  // 1.1093 km and 1.1119 km at 10 m/s.
  assert.deepEqual(
    told.slice(0, 8).map(({ at, report }) => [at / 1000, report.speed, Math.round(report.course), report.ignition]),
    [
      [0, 0, 0, false],
      ...[60, 120].map((at) => [at, 36, 90, true]),
      ...[180, 240].map((at) => [at, 36, at === 180 ? 0 : 0, true]),
      [283, 0, 0, false],
      [300, 0, 0, false],
      [360, 0, 0, false],
    ],
  );
  assert.ok(Math.abs((told[2]?.report.longitude ?? 0) + 73.9946) < 1e-4);
  assert.equal(told[5]?.report.latitude, 4.01);
});

test("readings last until they are changed; null ends one", () => {
  const acts = [
    { at: "+1m", do: "set", readings: { fuel: 40, ignition: true } },
    { at: "+2m", do: "alarm", alarm: "powerCut", readings: { externalVoltage: 0, fuel: null } },
  ];
  const told = tellings(only({ interval: 60, readings: { fuel: 80 }, acts }));
  assert.deepEqual(
    told.slice(0, 4).map(({ report: { readings, ignition, alarm } }) => [readings, ignition, alarm]),
    [
      [{ fuel: 80 }, false, undefined],
      [{ fuel: 40, ignition: true }, true, undefined],
      [{ ignition: true, externalVoltage: 0 }, true, "powerCut"],
      [{ ignition: true, externalVoltage: 0 }, true, undefined],
    ],
  );
});

test("silent trackers keep or lose what they have to report until they are online", () => {
  const acts = [
    { at: "+1m", do: "silent" },
    { at: "+2m", do: "online" },
    { at: "+3m", do: "silent", keeps: false },
  ];
  const told = tellings(only({ interval: 60, acts }));
  assert.deepEqual(
    told.slice(0, 5).map(({ link }) => link),
    ["connected", "keeps", "connected", "loses", "loses"],
  );
});

test("what a protocol can't carry is named once for each tracker", () => {
  const acts = [
    { at: "+1m", do: "set", readings: { fuel: 40, ignition: true } },
    { at: "+2m", do: "alarm", alarm: "fuelLeak", readings: { fuel: 30 } },
  ];
  const story = storyOf({
    title: "t",
    end: "+5m",
    trackers: ["h02", "osmand"].map((protocol) => ({
      ...{ name: protocol, protocol, place: { latitude: 1, longitude: 1 }, acts },
    })),
  });
  assert.deepEqual(untold(story), ["h02: h02 can't carry fuel, the alarm fuelLeak", "osmand: osmand can't carry fuel"]);
});
