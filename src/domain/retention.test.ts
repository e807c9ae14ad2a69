import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../ports/log.ts";
import { Retention, type RetentionTimes } from "./retention.ts";

const day = 86_400_000;
const settings = {
  commands: { keepDays: 90 },
  alerts: { keepDays: 365, closeAfterDays: 7 },
  notices: { keepDays: 30 },
  refused: { keepDays: 60 },
};

/** A store that has `left` steps to do, a clock, and what was asked. */
function makeWorld(times: Partial<RetentionTimes> = {}) {
  const world = {
    now: Date.UTC(2026, 10, 21, 12),
    down: false,
    warned: 0,
    held: 0,
    commandSteps: 3,
    userSteps: 2,
    alerts: 2,
    open: 1,
    trusted: true,
    devices: [] as { key: number; days: number }[],
    deletions: [] as number[],
    failures: 0,
  };
  const asked: string[] = [];
  const quiet = () => {};
  const info = (_fields: object, text: string) => {
    if (text.startsWith("nothing old is deleted")) world.held++;
  };
  const log: Log = { debug: quiet, info, warn: () => void world.warned++, error: quiet, child: () => log };
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
      async closeOld(before: number, limit: number, now: number) {
        asked.push(`open alerts before ${new Date(before).toISOString()} at ${now}`);
        return world.open-- > 0 ? limit : 7;
      },
    },
    notices: {
      prunePauses: async () => 0,
      async prune(before: number) {
        asked.push(`notices before ${new Date(before).toISOString()}`);
        return 0;
      },
    },
    mutes: {
      async prune(before: number) {
        asked.push(`mutes before ${new Date(before).toISOString()}`);
        return 0;
      },
    },
    signIns: { prune: async () => 0 },
    shares: { prune: async () => 0 },
    refused: {
      async prune(before: number) {
        asked.push(`refused before ${new Date(before).toISOString()}`);
        return 0;
      },
    },
    devices: {
      async retained(after: number) {
        if (world.down) throw new Error("no disk");
        asked.push(`devices after ${after}`);
        return after > 0 ? [] : world.devices;
      },
      async daysOf(device: number) {
        return world.devices.find(({ key }) => key === device)?.days;
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
  const positionKeeper = {
    async deleteBefore(device: number, before: number) {
      asked.push(`positions of ${device} before ${new Date(before).toISOString()}`);
      if (world.failures-- > 0) throw new Error("damaged");
      return world.deletions.shift() ?? 0;
    },
  };
  const retention = new Retention(
    { store, clock, clockTrust, positionKeeper, log, settings },
    { firstMs: 5, everyMs: 5, pauseMs: 1, ...times },
  );
  return { world, asked, retention };
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await delay(1);
}

const commandSteps = [0, 1, 2].map((after) => `commands before 2026-08-23T12:00:00.000Z after ${after}`);
const userSteps = [0, 1].map((after) => `usage before 2026-11-20 after ${after}`);

const openStep = `open alerts before 2026-11-14T12:00:00.000Z at ${Date.UTC(2026, 10, 21, 12)}`;
const alertSteps = ["alerts before 2025-11-21T12:00:00.000Z"];
const deviceSteps = ["devices after 0"];
const noticeSteps = [
  "mutes before 2026-11-21T12:00:00.000Z",
  "notices before 2026-10-22T12:00:00.000Z",
  "refused before 2026-09-22T12:00:00.000Z",
];

test("step by step to the end, again and again; counters once a day", async () => {
  const { world, asked, retention } = makeWorld();
  retention.start();
  await until(() => asked.length >= 23);
  const fullSteps = [...alertSteps, ...alertSteps];
  const expected = [
    ...commandSteps,
    openStep,
    openStep,
    ...fullSteps,
    ...alertSteps,
    ...noticeSteps,
    ...userSteps,
    ...deviceSteps,
  ];
  const again = [...commandSteps, openStep, ...alertSteps, ...noticeSteps, ...deviceSteps];
  assert.deepEqual(asked.slice(0, 23), [...expected, ...again]);
  world.now += day;
  await until(() => asked.includes("usage before 2026-11-21 after 1"));
  await retention.stop();
});

test("the first look comes soon after the start: a service that is often started again prunes too", async () => {
  const { asked, retention } = makeWorld({ everyMs: 3_600_000 });
  retention.start();
  await until(() => asked.length >= 12);
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
  await until(() => world.held === 1);
  await delay(20);
  assert.deepEqual([asked, world.held], [[], 1]);
  world.trusted = true;
  await until(() => asked.length >= 1);
  world.trusted = false;
  await until(() => world.held === 2);
  const before = asked.length;
  await delay(20);
  assert.ok(asked.length <= before + 1);
  world.trusted = true;
  await until(() => asked.includes("usage before 2026-11-20 after 1"));
  await retention.stop();
  assert.equal(world.warned, 0);
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
    alerts: { prune: async () => 0, closeOld: async () => 0 },
    notices: { prune: async () => 0, prunePauses: async () => 0 },
    mutes: { prune: async () => 0 },
    signIns: { prune: async () => 0 },
    shares: { prune: async () => 0 },
    refused: { prune: async () => 0 },
    devices: { retained: async () => [], daysOf: async () => undefined },
  };
  const quiet = () => {};
  const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet, child: () => log };
  const clock = { now: () => world.now, monotonic: () => 0 };
  const clockTrust = { mayDelete: () => true };
  const long = new Retention(
    {
      ...{ store, clock, clockTrust, log, settings },
      positionKeeper: { deleteBefore: async () => 0 },
    },
    { firstMs: 1, everyMs: 1, pauseMs: 3_600_000 },
  );
  long.start();
  await delay(20);
  await long.stop();
});

test("positions are deleted device by device, by the days of each; one that fails holds up no other", async () => {
  const { world, asked, retention } = makeWorld({ everyMs: 3_600_000 });
  world.devices = [
    { key: 3, days: 1 },
    { key: 5, days: 30 },
    { key: 9, days: 365 },
  ];
  world.failures = 1;
  world.deletions = [100, 7];
  retention.start();
  const positions = () => asked.filter((text) => text.startsWith("positions"));
  await until(() => positions().length >= 3);
  await delay(20);
  await retention.stop();
  assert.deepEqual(positions(), [
    "positions of 3 before 2026-11-20T00:00:00.000Z",
    "positions of 5 before 2026-10-22T00:00:00.000Z",
    "positions of 9 before 2025-11-21T00:00:00.000Z",
  ]);
  // The one that failed, and how many did.
  assert.equal(world.warned, 2);
});

test("no position is deleted by a clock that may be fast", async () => {
  const { world, asked, retention } = makeWorld();
  world.devices = [{ key: 3, days: 1 }];
  world.trusted = false;
  retention.start();
  await delay(30);
  assert.equal(asked.length, 0);
  world.trusted = true;
  await until(() => asked.some((text) => text.startsWith("positions of 3")));
  await retention.stop();
});
