import assert from "node:assert/strict";
import { test } from "node:test";
import { protocols } from "../protocols/index.ts";
import { type Story, storyBegin } from "./story.ts";
import { readStory } from "./story-input.ts";

const able = protocols.filter(({ simulate }) => simulate !== undefined);
const tracker = { name: "Truck", place: { latitude: 4, longitude: -74 } };

function problemsOf(value: unknown): readonly string[] {
  const read = readStory(value, able);
  return "problems" in read ? read.problems : [];
}

function storyOf(value: object): Story {
  const read = readStory({ title: "t", end: "+1h", trackers: [tracker], ...value }, able);
  assert.ok("story" in read);
  return read.story;
}

test("a story's mistakes are named, all of them, with their places", () => {
  const acts = [
    { at: "+5m", do: "drive", to: "nowhere", speed: 0 },
    { at: "+4m", do: "alarm", alarm: "boredom" },
    { at: "10:00", do: "stay", for: "5m" },
    { at: "+6m", do: "fly" },
    { at: "+7m", do: "set", readings: { fuel: 120, ignition: "on", mood: 1 } },
    { at: "+2h", do: "silent", keeps: 1 },
    { at: "+1.5s", do: "online" },
    { at: "+8m", do: "drive", speed: 50 },
    7,
  ];
  const value = {
    ...{ title: "", end: "+1h", interval: 0, timeZone: "Mars/Olympus", music: true },
    places: { depot: { latitude: 91, longitude: 0 } },
    trackers: [
      { ...tracker, acts },
      { name: "B", id: "x", protocol: "morse", place: "depot" },
      { ...tracker, id: "990000000000019" },
      { ...tracker, id: "990000000000019" },
    ],
  };
  const problems = problemsOf(value);
  const names = [
    ...["story.music", "title", "timeZone", "places.depot.latitude", "interval"],
    ...["trackers[0].acts[0].speed", "trackers[0].acts[0].to", "trackers[0].acts[1].at", "trackers[0].acts[1].alarm"],
    ...["trackers[0].acts[2].at", "trackers[0].acts[2].for", "trackers[0].acts[3].do"],
    ...["fuel", "ignition", "mood"].map((name) => `trackers[0].acts[4].readings.${name}`),
    ...["trackers[0].acts[5].at", "trackers[0].acts[5].keeps", "trackers[0].acts[6].at", "trackers[0].acts[7]"],
    ...["trackers[0].acts[8]", "trackers[1].id", "trackers[1].protocol", "trackers[1].place", "trackers"],
  ];
  assert.deepEqual(problems.map((text) => text.split(": ")[0]).toSorted(), names.toSorted());
});

test("what is no story is refused with a reason", () => {
  for (const value of [null, [], "story", {}, { title: "t", end: "+8d", trackers: [tracker] }])
    assert.ok(problemsOf(value).length > 0, JSON.stringify(value));
  assert.match(
    problemsOf({ title: "t", end: "+7d", trackers: Array(4).fill({ ...tracker, interval: 1 }) })[0] ?? "",
    /reports/,
  );
});

test("times of day are the first ones after the start, also over midnight", () => {
  const acts = ["23:50", "00:10", "+30m"].map((at) => ({ at, do: "stay" }));
  const { trackers, length } = storyOf({ start: "23:45", end: "01:00", trackers: [{ ...tracker, acts }] });
  assert.deepEqual(
    trackers[0]?.acts.map(({ at }) => at / 60_000),
    [5, 25, 30],
  );
  assert.equal(length, 75 * 60_000);
});

test("a story begins so that no report is of the future, and ends with the present", () => {
  const now = Date.UTC(2026, 10, 21, 12, 0, 0, 500);
  assert.equal(storyBegin(storyOf({}), now, 1), Date.UTC(2026, 10, 21, 12));
  assert.equal(storyBegin(storyOf({}), now, 60), Date.UTC(2026, 10, 21, 11, 1));
  const clock = (start: string, timeZone: string) => storyOf({ start, timeZone });
  assert.equal(storyBegin(clock("10:00", "UTC"), now, 60), Date.UTC(2026, 10, 21, 10));
  assert.equal(storyBegin(clock("11:30", "UTC"), now, 60), Date.UTC(2026, 10, 20, 11, 30));
  assert.equal(storyBegin(clock("11:30", "UTC"), now, 1), Date.UTC(2026, 10, 21, 11, 30));
  assert.equal(storyBegin(clock("06:00", "America/Bogota"), now, 1), Date.UTC(2026, 10, 21, 11));
  assert.equal(storyBegin(clock("20:00", "Asia/Tokyo"), now, 1), Date.UTC(2026, 10, 21, 11));
});
