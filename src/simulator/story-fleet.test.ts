import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { accept, lineService, lines } from "../../test/support/line-service.ts";
import { stories } from "../../test/support/stories.ts";
import type { Story } from "./story.ts";
import { type StoryFleetOptions, startStory } from "./story-fleet.ts";
import { readStory } from "./story-input.ts";
import { tell } from "./story-teller.ts";

const now = Date.UTC(2026, 10, 21, 12);

function storyOf(value: unknown): Story {
  const read = readStory(value, [lines]);
  assert.ok("story" in read, "problems" in read ? read.problems.join("\n") : "");
  return read.story;
}

/** Played fast: each look at the clock is 5 ms later. */
function optionsFor(story: Story, port: number, speedUp: number): StoryFleetOptions {
  let elapsed = 0;
  const clock = { now: () => now + elapsed, monotonic: () => (elapsed += 5) };
  const register = () => Promise.resolve();
  return {
    story,
    speedUp,
    seed: "s",
    host: "127.0.0.1",
    port,
    clock,
    register,
    connectsPerSecond: 10_000,
    retryDelay: 2,
  };
}

/**
 * Times of what a service must be told: what is not lost, and of what is kept that after which the tracker comes back.
 */
function expected(story: Story, tracker: number, begin: number): readonly number[] {
  const written = story.trackers[tracker];
  const told = written ? [...tell(written, story.length, begin)].filter(({ link }) => link !== "loses") : [];
  const last = told.findLastIndex(({ link }) => link === "connected");
  return told.slice(0, last + 1).map(({ report }) => report.time);
}

test("any story is played wholly: every report that is not lost arrives, once and in its order", async (context) => {
  const { port, stored } = await lineService(context, accept);
  await fc.assert(
    fc.asyncProperty(stories(["lines"]), async (written) => {
      stored.clear();
      const story = storyOf(written);
      const fleet = await startStory(optionsFor(story, port, 100_000));
      const stats = await fleet.finished;
      for (const [index, { id }] of fleet.devices.entries())
        assert.deepEqual(stored.get(id) ?? [], expected(story, index, fleet.begin));
      assert.ok(fleet.end <= now && stats.connected === 0);
    }),
    { numRuns: 25 },
  );
});

const place = { latitude: 4, longitude: -74 };

test("what was on its way when a tracker went silent is sent again", async (context) => {
  let answered = 0;
  const { port, stored } = await lineService(context, (words, socket) => {
    if (words[0] === "REPORT" && answered++ % 3 === 1) {
      socket.destroy();
      return undefined;
    }
    return accept(words);
  });
  const acts = [2, 4, 6, 8].map((minute, index) => ({ at: `+${minute}m`, do: index % 2 === 0 ? "silent" : "online" }));
  const trackers = [{ name: "Truck", protocol: "lines", place, interval: 10, acts }];
  const story = storyOf({ title: "t", end: "+10m", trackers });
  const fleet = await startStory(optionsFor(story, port, 1000));
  const stats = await fleet.finished;
  assert.ok(stats.reconnects > 0 && stats.resent > 0);
  const [device] = fleet.devices;
  assert.deepEqual(stored.get(device?.id ?? ""), expected(story, 0, fleet.begin));
});

test("its devices are registered first, with their own identifiers or made ones, and stop ends it early", async (context) => {
  const { port, stored } = await lineService(context, accept);
  const common = { name: "Truck", protocol: "lines", place };
  const story = storyOf({ title: "t", end: "+1d", trackers: [{ ...common, id: "990000000000019" }, common] });
  const registered: string[] = [];
  const register = async (devices: readonly { readonly id: string }[]) => {
    assert.equal(stored.size, 0);
    registered.push(...devices.map(({ id }) => id));
  };
  const fleet = await startStory({ ...optionsFor(story, port, 1), register });
  assert.equal(registered[0], "990000000000019");
  assert.match(registered[1] ?? "", /^99\d{13}$/);
  assert.deepEqual(fleet.devices[0]?.tags, { simulated: "true", scenario: "t" });
  const stats = await fleet.stop();
  assert.equal(stats.waiting, 0);
});
