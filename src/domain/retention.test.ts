import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../ports/log.ts";
import { Retention, type RetentionTimes } from "./retention.ts";

const day = 86_400_000;
const settings = {
  commands: { keepDays: 90 },
  alerts: { keepDays: 365 },
  notices: { keepDays: 30 },
  refused: { keepDays: 60 },
};

/** A store that has `left` steps to do, a clock, and what was asked. */
function makeWorld(times: Partial<RetentionTimes> = {}) {
  const world = {
    now: Date.UTC(2026, 10, 21, 12),
    down: false,
    warned: 0,
    commandSteps: 3,
    userSteps: 2,
    alerts: 2,
    trusted: true,
  };
  const asked: string[] = [];
  const quiet = () => {};
  const log: Log = { debug: quiet, info: quiet, warn: () => void world.warned++, error: quiet, child: () => log };
  const store = {
    commands: {
      async deleteEnded(before: number, after: number) {
        if (world.down) throw new Error("no disk");
        asked.push(`commands before ${new Date(before).toISOString()} after ${after}`);
        return { deleted: 1, next: after + 1 < world.commandSteps ? after + 1 : undefined };
      },
    },
    alerts: {
      async prune(before: number, limit: number) {
        asked.push(`alerts before ${new Date(before).toISOString()}`);
        return world.alerts-- > 0 ? limit : 7;
      },
    },
    notices: {
      async prune(before: number) {
        asked.push(`notices before ${new Date(before).toISOString()}`);
        return 0;
      },
    },
    refused: {
      async prune(before: number) {
        asked.push(`refused before ${new Date(before).toISOString()}`);
        return 0;
      },
    },
    users: {
      async foldUsage(before: string, after: number) {
        asked.push(`usage before ${before} after ${after}`);
        return after + 1 < world.userSteps ? after + 1 : undefined;
      },
    },
  };
  const clock = { now: () => world.now, monotonic: () => 0 };
  const clockTrust = { mayDelete: () => world.trusted };
  const retention = new Retention(
    { store, clock, clockTrust, log, settings },
    { firstMs: 5, everyMs: 5, pauseMs: 1, ...times },
  );
  return { world, asked, retention };
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await delay(1);
}

const commandSteps = [0, 1, 2].map((after) => `commands before 2026-08-23T12:00:00.000Z after ${after}`);
const userSteps = [0, 1].map((after) => `usage before 2026-11-20 after ${after}`);

const alertSteps = ["alerts before 2025-11-21T12:00:00.000Z"];
const noticeSteps = ["notices before 2026-10-22T12:00:00.000Z", "refused before 2026-09-22T12:00:00.000Z"];

test("step by step to the end, again and again; counters once a day", async () => {
  const { world, asked, retention } = makeWorld();
  retention.start();
  await until(() => asked.length >= 16);
  const fullSteps = [...alertSteps, ...alertSteps];
  const expected = [...commandSteps, ...fullSteps, ...alertSteps, ...noticeSteps, ...userSteps];
  assert.deepEqual(asked.slice(0, 16), [...expected, ...commandSteps, ...alertSteps, ...noticeSteps]);
  world.now += day;
  await until(() => asked.includes("usage before 2026-11-21 after 1"));
  await retention.stop();
});

test("the first look comes soon after the start: a service that is often started again prunes too", async () => {
  const { asked, retention } = makeWorld({ everyMs: 3_600_000 });
  retention.start();
  await until(() => asked.length >= 10);
  await retention.stop();
});

test("a store that fails is asked again later; nothing is asked after the stop", async () => {
  const { world, asked, retention } = makeWorld();
  world.down = true;
  retention.start();
  await until(() => world.warned >= 2);
  assert.deepEqual(asked, []);
  world.down = false;
  await until(() => asked.length >= 2);
  await retention.stop();
  const before = asked.length;
  await delay(20);
  assert.equal(asked.length, before);
});

test("a clock that may be fast deletes nothing, also from one step to the next; once it is trusted again it goes on", async () => {
  const { world, asked, retention } = makeWorld();
  world.trusted = false;
  retention.start();
  await until(() => world.warned === 1);
  await delay(20);
  assert.deepEqual([asked, world.warned], [[], 1]);
  world.trusted = true;
  await until(() => asked.length >= 1);
  world.trusted = false;
  await until(() => world.warned === 2);
  const before = asked.length;
  await delay(20);
  assert.ok(asked.length <= before + 1);
  world.trusted = true;
  await until(() => asked.includes("usage before 2026-11-20 after 1"));
  await retention.stop();
});

test("a stop before the first look, and in a long pause", async () => {
  const { retention } = makeWorld();
  retention.start();
  await retention.stop();
  const slow = makeWorld();
  const world = { ...slow.world };
  const store = {
    commands: { deleteEnded: async () => ({ deleted: 0, next: 1 }) },
    users: { foldUsage: async () => undefined },
    alerts: { prune: async () => 0 },
    notices: { prune: async () => 0 },
    refused: { prune: async () => 0 },
  };
  const quiet = () => {};
  const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => log };
  const clock = { now: () => world.now, monotonic: () => 0 };
  const clockTrust = { mayDelete: () => true };
  const long = new Retention(
    { store, clock, clockTrust, log, settings },
    { firstMs: 1, everyMs: 1, pauseMs: 3_600_000 },
  );
  long.start();
  await delay(20);
  await long.stop();
});
