import assert from "node:assert/strict";
import { test } from "node:test";
import { admitted, fix, setUp } from "../../test/support/troubled-store.ts";
import type { Admitted } from "../ports/intake.ts";
import { StoreUnavailable } from "../ports/store.ts";

const hour = 3_600;
const day = 24 * hour;

/**
 * Ingest whose first append takes until `release`, so that what is submitted meanwhile waits together. The clock of the
 * day is `ahead` of the time that passes, s.
 */
async function world() {
  const { store, clock, ingest } = setUp();
  const world = { ahead: 0 };
  clock.now = () => clock.time + world.ahead * 1000;
  const { promise, resolve } = Promise.withResolvers<void>();
  store.trouble = [() => promise];
  const outcomes: string[] = [];
  const report = (device: Admitted, second: number) =>
    new Promise<void>((done) =>
      ingest.submit(device, [fix(second)], clock.now(), (outcome) => {
        outcomes.push(`${device.id} ${second}: ${outcome}`);
        done();
      }),
    );
  const [one, other] = [await admitted(ingest, "a"), await admitted(ingest, "b")];
  // It contradicts the clock, so that others are heard of it, too.
  const first = report(other, -2 * day);
  await new Promise((turn) => setImmediate(turn));
  return Object.assign(world, { ingest, one, other, outcomes, report, first, release: () => resolve() });
}

test("a report that came before the clock was set ahead does not agree with it, though others came with it later", async () => {
  const set = await world();
  const { ingest, one, report, first, release } = set;
  const before = report(one, 0);
  set.ahead = 365 * day;
  const after = report(one, 1);
  release();
  await Promise.all([first, before, after]);
  assert.equal(ingest.ownClock.mayDelete(), false);
  await report(one, 365 * day);
  assert.equal(ingest.ownClock.mayDelete(), true);
  await ingest.stop();
});

test("a report that seemed to be from the future before the clock was set right waits, though others came with it later", async () => {
  const set = await world();
  const { ingest, one, other, outcomes, report, first, release } = set;
  const before = report(one, 2 * hour);
  set.ahead = 2 * hour;
  const after = [report(other, 2 * hour), report(one, 2 * hour + 1)];
  release();
  await Promise.all([first, before, ...after]);
  assert.deepEqual(outcomes.toSorted(), [
    `a ${2 * hour}: failed`,
    `a ${2 * hour + 1}: stored`,
    `b ${-2 * day}: stored`,
    `b ${2 * hour}: stored`,
  ]);
  await ingest.stop();
});

test("of a device whose head can't be read nothing is refused for good, and what is of the past is stored", async () => {
  const { following, clock, ingest } = setUp();
  const one = await admitted(ingest, "a");
  clock.time += day * 1000;
  following.head = () => Promise.reject(new StoreUnavailable("the file is locked"));
  const send = (second: number) =>
    new Promise<string>((resolve) => ingest.submit(one, [fix(second)], clock.now(), resolve));
  assert.equal(await send(-2 * day), "stored");
  assert.equal(await send(day + 2 * hour), "failed");
  await ingest.stop();
});
