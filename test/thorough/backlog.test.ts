import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Fix } from "../../src/model/effects.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, type World } from "../support/any-order.ts";
import type { Location } from "../support/location-content.ts";
import { worldFor } from "../support/world-for.ts";

/** A device of a new account, ready to report. */
async function newDevice(world: World): Promise<Admitted> {
  const { id } = await makeDevice(world.store, (await makeAccount(world.store)).key);
  return world.admitted(id);
}

function fixAt(second: number, number: number): Fix {
  return {
    type: "fix",
    time: Date.UTC(2026, 5, 1) + second * 1000,
    valid: true,
    latitude: Math.round((48 + second / 1e5) * 1e7) / 1e7,
    longitude: 11,
    speed: 50,
    course: 0,
    alarms: [],
    readings: {},
    attributes: { number },
  };
}

/** Reports in any order, a tenth of them twice. */
function shuffled<T>(reports: readonly T[], random: () => number): readonly T[] {
  return [...reports, ...reports.filter(() => random() < 0.1)]
    .map((report) => ({ report, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ report }) => report);
}

/** What a drive's positions are: as in a drive; none is valid; or the first valid ones lie at the end. */
const kinds = ["drive", "never valid", "first valid late"] as const;

function reportsOf(random: () => number, count: number, kind: (typeof kinds)[number]) {
  return drive(random, count).map((fix, at) => {
    if (kind === "drive") return fix;
    return { ...fix, valid: kind === "first valid late" && at > count * 0.9 };
  });
}

interface Backlog {
  readonly seed: number;
  readonly kind: (typeof kinds)[number];
  readonly count: number;
  /** Which part of the reports comes in order, before the backlog. */
  readonly inOrder: number;
  readonly inFlight: number;
}

/** What is read while commits land and chunks are sealed has each record once, in order. */
function assertOnceEach(read: readonly Location[]): void {
  assert.equal(new Set(read.map(({ attributes }) => attributes.number)).size, read.length);
  read.forEach(({ dateTime }, at) => {
    assert.ok((read[at - 1]?.dateTime ?? "") <= dateTime);
  });
}

/** Sends a device's reports, those after some first ones in any order. Returns how many commits stored the backlog, and of how many messages it was. */
async function send(world: World, backlog: Backlog): Promise<{ commits: number; messages: number }> {
  const { seed, kind, count, inOrder, inFlight } = backlog;
  const random = chance(seed);
  const device = await newDevice(world);
  const all = reportsOf(random, count, kind);
  const early = new Set(all.filter(() => random() < inOrder));
  const delivered = [...early];
  if (delivered.length > 0) await world.deliver(device, delivered);
  const version = async () => (await world.store.locations.states([device.key]))[0]?.version ?? 0;
  const before = await version();
  const late = shuffled(
    all.filter((report) => !early.has(report) || random() < 0.1),
    random,
  );
  const waiting: Promise<unknown>[] = [];
  let messages = 0;
  for (let at = 0; at < late.length; ) {
    const message = late.slice(at, at + 1 + Math.floor(random() * 20));
    at += message.length;
    messages++;
    delivered.push(...message);
    waiting.push(world.deliver(device, message));
    if (random() < 0.02) waiting.push(world.store.seal(device.key));
    if (waiting.length >= inFlight) await waiting.shift();
    if (random() < 0.05) assertOnceEach(await world.history(device.key));
  }
  await Promise.all(waiting);
  const commits = (await version()) - before;
  await world.compare(device.key, delivered, JSON.stringify(backlog));
  await world.store.seal(device.key);
  await world.compare(device.key, delivered, "sealed");
  return { commits, messages };
}

test("whatever the order of a backlog, with several messages on their way and sealing meanwhile, each report is stored once, with the totals of its place", async (context) => {
  const world = await worldFor(context);
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        seed: fc.integer(),
        kind: fc.constantFrom(...kinds),
        count: fc.constantFrom(60, 300, 900),
        inOrder: fc.constantFrom(0, 0.3, 0.8),
        inFlight: fc.constantFrom(1, 4, 40),
      }),
      async (backlog) => {
        await send(world, backlog);
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 8) },
  );
});

test("reports of one message that lie far apart in a long history are stored in one commit or two", async (context) => {
  const world = await worldFor(context);
  const backlog = { seed: 3, kind: "drive", count: 4000, inOrder: 0.9, inFlight: 1 } as const;
  const { commits, messages } = await send(world, backlog);
  assert.ok(commits < messages * 2, `${commits} commits for ${messages} messages`);
});

for (const { what, lateOnes } of [
  { what: "fill a gap", lateOnes: Array.from({ length: 1500 }, (_, at) => fixAt(6001 + at * 4, at)) },
  { what: "are of one moment", lateOnes: Array.from({ length: 1500 }, (_, at) => fixAt(7000, at)) },
])
  for (const sealed of [false, true])
    test(`late reports that ${what} are few chunks, though ${sealed ? "a block reaches" : "chunks reach"} over them`, async (context) => {
      const world = await worldFor(context);
      const device = await newDevice(world);
      const inOrder = Array.from({ length: 400 }, (_, at) => fixAt(at * 30 + (at < 200 ? 0 : 7200), 0));
      await world.deliver(device, inOrder);
      if (sealed) await world.store.seal(device.key);
      const before = world.store.sealing.tailChunks;
      // Few enough that the sealer waits.
      await world.deliver(device, lateOnes.slice(0, 300));
      assert.ok(world.store.sealing.tailChunks - before < 20);
      await world.deliver(device, lateOnes);
      await world.compare(device.key, [...inOrder, ...lateOnes], what);
    });
