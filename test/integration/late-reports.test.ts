import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import fc from "fast-check";
import { createMemoryBus } from "../../src/bus/memory.ts";
import { Ingest } from "../../src/ingest/ingest.ts";
import { ingestMetrics } from "../../src/ingest/metrics.ts";
import type { Fix, Report } from "../../src/model/effects.ts";
import { createLog, createMetrics, systemClock } from "../../src/observe/index.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Admitted } from "../../src/ports/intake.ts";
import { type Store, StoreUnavailable } from "../../src/ports/store.ts";
import type { WriterCalls } from "../../src/store/locations/calls.ts";
import { WorkerLink } from "../../src/store/workers/worker-link.ts";
import { deviceFields } from "../contract/store/harness.ts";
import { noAlertEngine } from "../support/no-alert-engine.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { openStore } from "../support/store.ts";

const log = createLog("silent");
const start = Date.UTC(2026, 5, 1);

function newIngest(store: Pick<Store, "locations" | "devices" | "alerts" | "check">): Ingest {
  const metrics = ingestMetrics(createMetrics({ processMetrics: false }));
  const bus = createMemoryBus((error) => assert.fail(String(error)));
  return new Ingest({ maxFutureMs: 600_000 }, { store, bus, clock, log, metrics, engine: noAlertEngine });
}

const fields = (id: string) => deviceFields({ id, name: id, odometerStart: 100 });

/** A day after the first report, whenever the tests run. */
const clock: Clock = { ...systemClock, now: () => start + 86_400_000 };

async function admitted(ingest: Ingest, store: Store, id: string): Promise<Admitted> {
  const [account] = await store.accounts.list();
  assert.ok(account);
  await store.devices.create(account.key, fields(id), Date.now());
  const admission = await ingest.admit([id]);
  assert.ok(admission.status === "admitted");
  return admission;
}

function submit(ingest: Ingest, device: Admitted, reports: readonly Report[]): Promise<string> {
  return new Promise((resolve) => ingest.submit(device, reports, clock.now(), resolve));
}

async function history(store: Store, device: Admitted, readings = false): Promise<readonly object[]> {
  const chunks: string[] = [];
  const range = { from: 0, to: Date.UTC(2100, 0, 1), limit: 1e9, account: 1, odometerStart: 100, readings };
  for await (const chunk of store.locations.history(device.key, range)) chunks.push(Buffer.from(chunk.json).toString());
  return JSON.parse(`[${chunks.join(",")}]`);
}

const report: fc.Arbitrary<Report> = fc
  .record({
    located: fc.integer({ min: 0, max: 2 }).map((choice) => choice > 0),
    // Also of clocks that stand still: many of one moment.
    minute: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 })),
    valid: fc.integer({ min: 0, max: 5 }).map((choice) => choice > 0),
    step: fc.integer({ min: 0, max: 40 }),
    speed: fc.constantFrom(undefined, 0, 50),
    input1: fc.constantFrom(undefined, true, false),
  })
  .map(({ minute, located, valid, step, speed, input1 }): Report => {
    const readings = input1 === undefined ? {} : { input1 };
    const common = { time: start + minute * 60_000, alarms: [], readings, attributes: { step } };
    if (!located) return { type: "readings", ...common };
    const motion = speed === undefined ? {} : { speed };
    return { type: "fix", ...common, valid, latitude: 48 + step / 1000, longitude: 11, ...motion };
  });

test("whatever the order of arrival, the store answers the same history and last location", async (context) => {
  const directory = dataFolder();
  const store = await openStore(directory, log);
  const ingest = newIngest(store);
  context.after(async () => {
    await ingest.stop();
    await store.close();
    removeFolder(directory);
  });
  await store.accounts.create(
    { id: "test", name: "Test", timeZone: "Etc/UTC", licenses: 100_000, language: "en" },
    Date.now(),
  );
  let devices = 0;
  const cases = fc
    .array(report, { minLength: 1, maxLength: 60 })
    .chain((all) => fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 }));
  await fc.assert(
    fc.asyncProperty(cases, fc.integer({ min: 1, max: 9 }), async (shuffled, size) => {
      const inOrder = await admitted(ingest, store, `in-order-${devices}`);
      const anyOrder = await admitted(ingest, store, `any-order-${devices++}`);
      // Of one moment, as they came.
      const sorted = shuffled.toSorted((one, other) => (one.time ?? 0) - (other.time ?? 0));
      assert.equal(await submit(ingest, inOrder, sorted), "stored");
      const waiting: Promise<string>[] = [];
      for (let at = 0; at < shuffled.length; at += size) {
        waiting.push(submit(ingest, anyOrder, shuffled.slice(at, at + size)));
        // Some submissions share a batch, some do not.
        if (at % (size * 3) === 0) await waiting.at(-1);
      }
      for (const outcome of await Promise.all(waiting)) assert.equal(outcome, "stored");
      assert.deepEqual(await history(store, anyOrder), await history(store, inOrder));
      assert.deepEqual(await history(store, anyOrder, true), await history(store, inOrder, true));
      const last = await ingest.states.lastLocation(anyOrder.key, 100);
      assert.equal(last, await ingest.states.lastLocation(inOrder.key, 100));
      const fresh = newIngest(store);
      assert.equal(await fresh.states.lastLocation(anyOrder.key, 100), last, "a restarted service answers the same");
      await fresh.stop();
    }),
    { numRuns: 60 },
  );
});

/** What becomes of a commit. `lost`: it is stored, and its answer never comes; `cut off`: the same, and the store does not work for a moment. */
const fate = fc.constantFrom("stored", "stored", "failed", "lost", "lost", "cut off");

/** The store, whose writer gives its next batches these fates; what failed succeeds when it is tried again, so that no device is set aside. */
function fated(context: TestContext, store: Store) {
  const fates: string[] = [];
  let failed = false;
  let down = 0;
  const call = WorkerLink.prototype.call;
  context.mock.method(
    WorkerLink.prototype,
    "call",
    async function (this: WorkerLink<WriterCalls>, name: keyof WriterCalls, request: never, transfer?: []) {
      const next = name !== "append" || failed ? "stored" : fates.shift();
      if (name === "append") failed = false;
      const answer = next === "failed" ? undefined : await call.call(this, name, request, transfer);
      if (next === undefined || next === "stored") return answer;
      failed = true;
      if (next === "cut off") down = 1;
      throw new StoreUnavailable(`this commit is ${next}`);
    },
  );
  const check = async () => {
    if (down-- > 0) throw new StoreUnavailable("the store is down");
  };
  const { locations, devices, alerts } = store;
  return { fates, store: { locations, devices, alerts, check } };
}

test("whichever commits fail or lose their answer, memory is as the store, and the history is as in order", async (context) => {
  const directory = dataFolder();
  const store = await openStore(directory, log);
  context.after(async () => {
    await store.close();
    removeFolder(directory);
  });
  await store.accounts.create(
    { id: "test", name: "Test", timeZone: "Etc/UTC", licenses: 100_000, language: "en" },
    Date.now(),
  );
  const trouble = fated(context, store);
  let devices = 0;
  const cases = fc
    .array(report, { minLength: 1, maxLength: 30 })
    .chain((all) => fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 }));
  await fc.assert(
    fc.asyncProperty(
      cases,
      fc.array(fate, { maxLength: 12 }),
      fc.integer({ min: 1, max: 7 }),
      async (shuffled, fates, size) => {
        const ingest = newIngest(trouble.store);
        const inOrder = await admitted(ingest, store, `in-order-${devices}`);
        const sorted = shuffled.toSorted((one, other) => (one.time ?? 0) - (other.time ?? 0));
        assert.equal(await submit(ingest, inOrder, sorted), "stored");
        trouble.fates.splice(0, Number.POSITIVE_INFINITY, ...fates);
        const troubled = [
          await admitted(ingest, store, `one-${devices}`),
          await admitted(ingest, store, `other-${devices++}`),
        ];
        const waiting: Promise<string>[] = [];
        for (let at = 0; at < shuffled.length; at += size) {
          for (const device of troubled) waiting.push(submit(ingest, device, shuffled.slice(at, at + size)));
          if (at % (size * 2) === 0) await waiting.at(-1);
        }
        for (const outcome of await Promise.all(waiting)) assert.equal(outcome, "stored");
        trouble.fates.length = 0;
        for (const device of troubled) {
          assert.deepEqual(await history(store, device), await history(store, inOrder));
          assert.deepEqual(await history(store, device, true), await history(store, inOrder, true));
          const last = await ingest.states.lastLocation(device.key, 100);
          assert.equal(last, await ingest.states.lastLocation(inOrder.key, 100));
          const [stored] = await store.locations.states([device.key]);
          assert.deepEqual(ingest.states.get(device.key), stored);
        }
        await ingest.stop();
      },
    ),
    { numRuns: 40 },
  );
});

/** A moment of several records with so many seconds of records behind it. Answers the store's device, and a fix at so many seconds. */
async function momentBefore(ingest: Ingest, store: Store, seconds: number, text: string) {
  await store.accounts.create(
    { id: "test", name: "Test", timeZone: "Etc/UTC", licenses: 10, language: "en" },
    Date.now(),
  );
  const device = await admitted(ingest, store, "a");
  const fix = (second: number, step: number): Fix => ({
    type: "fix",
    time: start + second * 1000,
    valid: true,
    latitude: 48 + step / 1000,
    longitude: 11,
    alarms: [],
    readings: {},
    attributes: Object.fromEntries(Array.from({ length: 4 }, (_, part) => [`part${part}`, text])),
  });
  await submit(ingest, device, [fix(0, 1), fix(0, 2), fix(0, 3), fix(0, 4), fix(0, 5)]);
  for (let from = 1; from <= seconds; from += 1000)
    await submit(
      ingest,
      device,
      Array.from({ length: Math.min(1000, seconds - from + 1) }, (_, index) => fix(from + index, 1)),
    );
  return { device, fix };
}

for (const { what, seconds, text } of [
  { what: "records", seconds: 20_000, text: "" },
  { what: "bytes", seconds: 1500, text: "x".repeat(2500) },
])
  test(`a repeat of one moment and a report that belongs more ${what} later than a context has are both acknowledged`, async (context) => {
    const directory = dataFolder();
    const store = await openStore(directory, log);
    const ingest = newIngest(store);
    context.after(async () => {
      await ingest.stop();
      await store.close();
      removeFolder(directory);
    });
    const { device, fix } = await momentBefore(ingest, store, seconds, text);
    assert.equal(await submit(ingest, device, [fix(0, 2), fix(seconds - 0.5, 3)]), "stored");
    assert.equal((await history(store, device)).length, seconds + 6);
  });

test("a clock that can't be right is kept as evidence, acknowledged, and no location", async (context) => {
  const directory = dataFolder();
  const store = await openStore(directory, log);
  const ingest = newIngest(store);
  context.after(async () => {
    await ingest.stop();
    await store.close();
    removeFolder(directory);
  });
  await store.accounts.create(
    { id: "test", name: "Test", timeZone: "Etc/UTC", licenses: 10, language: "en" },
    Date.now(),
  );
  const device = await admitted(ingest, store, "clockless");
  const fix = (time: number, latitude = 48): Fix => ({
    type: "fix",
    time,
    valid: true,
    latitude,
    longitude: 11,
    alarms: [],
    readings: {},
    attributes: {},
  });
  const other = await admitted(ingest, store, "right");
  await submit(ingest, other, [fix(start + 86_400_000)]);
  const reports = [fix(start), fix(Date.UTC(2040, 0, 1)), fix(2 ** 53), fix(2 ** 64 - 1)];
  reports.push(fix(Date.UTC(1999, 0, 1)), fix(0), fix(start + 1000, 123));
  assert.equal(await submit(ingest, device, reports), "stored");
  assert.equal((await history(store, device)).length, 1);
  const refused = (await store.refused.page(device.key, 10)).reports;
  assert.deepEqual(refused.map(({ cause }) => cause).sort(), [
    "future",
    "future",
    "future",
    "past",
    "past",
    "position",
  ]);
});

test("a fix from a tracker's memory that an earlier version stored is stored once when it is sent again", async (context) => {
  const directory = dataFolder();
  const store = await openStore(directory, log);
  context.after(async () => {
    await store.close();
    removeFolder(directory);
  });
  const ingest = newIngest(store);
  const account = { id: "test", name: "Test", timeZone: "Etc/UTC", licenses: 10, language: "en" } as const;
  await store.accounts.create(account, Date.now());
  const device = await admitted(ingest, store, "a");
  const changes: readonly Partial<Fix>[] = [{ attributes: { cells: "x" } }, { valid: false }, { alarms: ["sos"] }, {}];
  /** As they stood in earlier versions: a text in the order of the attributes, which is content. */
  const fixes = (archive: string | boolean | undefined) =>
    changes.map((change, index): Fix => {
      const attributes = { mode: "1", ...(archive !== undefined && { archive }), ...change.attributes };
      const base = { time: start + index * 60_000, valid: true, latitude: 4 + index, longitude: 11 };
      return { type: "fix", ...base, alarms: [], readings: {}, ...change, attributes };
    });
  // The last one of the device at that moment, and then behind others.
  for (const [index, stored] of fixes("true").entries()) {
    assert.equal(await submit(ingest, device, [stored]), "stored");
    for (const archive of [true, undefined]) {
      const again = fixes(archive)[index];
      assert.ok(again);
      assert.equal(await submit(ingest, device, [again]), "stored");
      assert.equal((await history(store, device)).length, index + 1, `${index} ${archive}`);
    }
  }
  for (const archive of [true, undefined]) assert.equal(await submit(ingest, device, fixes(archive)), "stored");
  assert.equal((await history(store, device)).length, changes.length);
  await ingest.stop();
});
