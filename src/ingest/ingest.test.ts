import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryBus } from "../../test/support/bus.ts";
import { noAlertEngine } from "../../test/support/no-alert-engine.ts";
import { device } from "../../test/support/records.ts";
import type { CommitBatch } from "../model/commit.ts";
import type { Device, DeviceKey } from "../model/device.ts";
import type { Fix } from "../model/effects.ts";
import { type DeviceState, neverReported } from "../model/location.ts";
import { createLog, createMetrics } from "../observe/index.ts";
import type { Admitted } from "../ports/intake.ts";
import { type CommitConflict, type Store, StoreUnavailable } from "../ports/store.ts";
import { Ingest } from "./ingest.ts";
import { ingestMetrics } from "./metrics.ts";

const start = Date.UTC(2026, 5, 1);

/** States and versions as the port promises them, and whatever trouble the test asks for. */
class TroubledStore {
  devices: Device[] = [device({ key: 1, id: "a" }), device({ key: 2, id: "b" })];
  readonly states = new Map<DeviceKey, DeviceState>();
  readonly commits: CommitBatch[] = [];
  /** What the next commits do instead; taken one by one. */
  down = 0;
  /** Devices whose rows can't be written. */
  readonly spoilt = new Set<DeviceKey>();
  tries = 0;
  trouble: (() => Promise<CommitConflict | undefined> | undefined)[] = [];

  async identify(ids: readonly string[]): Promise<Device | undefined> {
    return this.devices.find((one) => ids.includes(one.id));
  }

  async readStates(keys: readonly DeviceKey[]): Promise<readonly DeviceState[]> {
    return keys.map((key) => this.states.get(key) ?? neverReported);
  }

  async commit(given: CommitBatch, written?: () => void): Promise<CommitConflict | undefined> {
    // As the port allows: the records are needed no more before it is known what becomes of them.
    const batch = { ...given, devices: given.devices.map((one) => ({ ...one, records: [...one.records] })) };
    written?.();
    this.tries++;
    const trouble = this.trouble.shift()?.();
    if (trouble !== undefined) return trouble;
    if (batch.devices.some(({ device: key }) => this.spoilt.has(key)))
      throw new StoreUnavailable("a damaged page", undefined, "damaged");
    const gone = batch.devices.filter(
      ({ device: key, state }) =>
        !this.devices.some((one) => one.key === key) || (this.states.get(key)?.version ?? 0) + 1 !== state.version,
    );
    if (gone.length > 0) return { conflicts: gone.map(({ device: key }) => key) };
    for (const { device: key, state } of batch.devices) this.states.set(key, state);
    this.commits.push(batch);
    return undefined;
  }

  /** Records that are stored, by device. */
  get stored(): readonly (readonly [DeviceKey, number])[] {
    return this.commits.flatMap(({ devices }) =>
      devices.map(({ device: key, records }) => [key, records.length] as const),
    );
  }

  get asStore(): Pick<Store, "locations" | "devices" | "check"> {
    const locations = {
      states: (keys: readonly DeviceKey[]) => this.readStates(keys),
      commit: (batch: CommitBatch, written?: () => void) => this.commit(batch, written),
      context: async () => ({ from: [], more: false }),
    };
    const devices = { identify: (ids: readonly string[]) => this.identify(ids) };
    const check = async () => {
      if (this.down > 0) throw new StoreUnavailable("disk full");
    };
    return { locations, devices, check } as unknown as Pick<Store, "locations" | "devices" | "check">;
  }
}

function setUp() {
  const store = new TroubledStore();
  const bus = createMemoryBus();
  const clock = { time: start, now: () => clock.time, monotonic: () => clock.time };
  const metrics = ingestMetrics(createMetrics({ processMetrics: false }));
  const log = createLog("silent");
  const ingest = new Ingest(
    { maxFutureMs: 600_000 },
    { store: store.asStore, bus, clock, log, metrics, engine: noAlertEngine },
  );
  return { store, bus, clock, ingest };
}

async function admitted(ingest: Ingest, id: string): Promise<Admitted> {
  const admission = await ingest.admit([id]);
  assert.ok(admission.status === "admitted");
  return admission;
}

function fix(second: number): Fix {
  const readings = {};
  return {
    type: "fix",
    time: start + second * 1000,
    valid: true,
    latitude: 48,
    longitude: 11,
    alarms: [],
    readings,
    attributes: {},
  };
}

/** Submits one fix; `outcomes` gets every answer, so that two would show. */
function submit(ingest: Ingest, to: Admitted, second: number, outcomes: string[]): Promise<void> {
  return new Promise((resolve) =>
    ingest.submit(to, [fix(second)], start, (outcome) => {
      outcomes.push(outcome);
      resolve();
    }),
  );
}

test("a device that was only edited while its reports waited is stored all the same", async () => {
  const { store, bus, ingest } = setUp();
  const outcomes: string[] = [];
  const held = await admitted(ingest, "a");
  const stored = submit(ingest, held, 1, outcomes);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await stored;
  await ingest.stop();
  assert.deepEqual(outcomes, ["stored"]);
  assert.deepEqual(store.stored, [[1, 1]]);
});

test("what a reply lets in is committed too, be it the last of the run", async () => {
  const { store, ingest } = setUp();
  const one = await admitted(ingest, "a");
  for (let second = 1; second <= 5; second++) {
    const outcomes: string[] = [];
    // The next is submitted from within the answer to the one before, as a session does that was not ready for more.
    const after = await new Promise<Promise<void>>((resolve) =>
      ingest.submit(one, [fix(second * 2)], start, (outcome) => {
        outcomes.push(outcome);
        resolve(submit(ingest, one, second * 2 + 1, outcomes));
      }),
    );
    await after;
    assert.deepEqual(outcomes, ["stored", "stored"]);
  }
  await ingest.stop();
  assert.equal(store.stored.length, 10);
});

test("what the last replies let in while it stops is committed before it has stopped", async () => {
  const { store, ingest } = setUp();
  const one = await admitted(ingest, "a");
  const outcomes: string[] = [];
  ingest.submit(one, [fix(1)], start, () => void submit(ingest, one, 2, outcomes));
  await ingest.stop();
  assert.deepEqual(outcomes, ["stored"]);
  assert.equal(store.stored.length, 2);
});

test("a device that is gone is refused, once, and costs the others of its batch one more try", async () => {
  const { store, ingest } = setUp();
  const gone: string[] = [];
  const good: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  store.devices = store.devices.filter(({ id }) => id !== "a");
  let tries = 0;
  store.trouble = Array.from({ length: 20 }, () => () => {
    tries++;
    return undefined;
  });
  await Promise.all([submit(ingest, first, 1, gone), submit(ingest, second, 1, good)]);
  await ingest.stop();
  assert.deepEqual(gone, ["refused"]);
  assert.deepEqual(good, ["stored"]);
  assert.deepEqual(store.stored, [[2, 1]]);
  assert.equal(tries, 2);
});

test("while the store is down nobody is answered, and then everybody once", async () => {
  const { store, bus, ingest } = setUp();
  const outcomes: string[] = [];
  store.down = 2;
  const down = async () => {
    setImmediate(() => store.down--);
    throw new StoreUnavailable("disk full");
  };
  store.trouble = [down, down];
  const held = await admitted(ingest, "a");
  const expiring = await admitted(ingest, "b");
  const waiting = [submit(ingest, held, 1, outcomes), submit(ingest, expiring, 1, outcomes)];
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  assert.equal(ingest.congested, true);
  assert.deepEqual(outcomes, []);
  store.devices = store.devices.filter(({ id }) => id !== "b");
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 2, id: "b" });
  const drained = new Promise<void>((resolve) => ingest.onDrained(resolve));
  await Promise.all([...waiting, drained]);
  await ingest.stop();
  assert.deepEqual(outcomes.sort(), ["refused", "stored"]);
  assert.deepEqual(store.stored, [[1, 1]]);
});

test("one device that can't be committed fails alone", async () => {
  const { store, ingest } = setUp();
  const bad: string[] = [];
  const good: string[] = [];
  const poison = () => Promise.reject(new Error("a defect"));
  store.trouble = [poison, poison, () => undefined];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  await Promise.all([submit(ingest, first, 1, bad), submit(ingest, second, 1, good)]);
  await ingest.stop();
  assert.deepEqual(bad, ["failed"]);
  assert.deepEqual(good, ["stored"]);
  assert.deepEqual(store.stored, [[2, 1]]);
});

test("a store that is down does not hold up the stop, and nothing is acknowledged", async () => {
  const { store, ingest } = setUp();
  const outcomes: string[] = [];
  store.down = 1;
  store.trouble = Array.from({ length: 1000 }, () => () => Promise.reject(new StoreUnavailable("disk full")));
  ingest.submit(await admitted(ingest, "a"), [fix(1)], start, (outcome) => outcomes.push(outcome));
  await ingest.stop();
  assert.deepEqual(outcomes, []);
});

test("reports of one batch share a commit; those that come meanwhile share the next", async () => {
  const { store, ingest } = setUp();
  const outcomes: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  await Promise.all([
    submit(ingest, first, 1, outcomes),
    submit(ingest, second, 1, outcomes),
    submit(ingest, first, 2, outcomes),
  ]);
  await ingest.stop();
  assert.equal(store.commits.length, 1);
  assert.equal(store.states.get(1)?.version, 1);
});

test("the next batch is with the store before the replies to the last one are written, and all are before the stop", async () => {
  const { store, ingest } = setUp();
  const order: string[] = [];
  const first = await admitted(ingest, "a");
  const second = await admitted(ingest, "b");
  const written = Promise.withResolvers<undefined>();
  const asked = Promise.withResolvers<void>();
  store.trouble = [
    () => {
      asked.resolve();
      return undefined;
    },
    () => {
      order.push("second commit");
      return undefined;
    },
  ];
  const commit = store.commit.bind(store);
  store.commit = async (batch, emptied) => {
    const answer = await commit(batch, emptied);
    await written.promise;
    return answer;
  };
  ingest.submit(first, [fix(1)], start, () => order.push("first reply"));
  await asked.promise;
  ingest.submit(second, [fix(1)], start, () => order.push("second reply"));
  written.resolve(undefined);
  await ingest.stop();
  assert.deepEqual(order, ["second commit", "first reply", "second reply"]);
});

test("a device that the store can't take holds up no other, wherever it stands, and is stored once it can be", async () => {
  for (const culprit of [1, 20, 40]) {
    const { store, clock, ingest } = setUp();
    store.devices = Array.from({ length: 40 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
    store.spoilt.add(culprit).add(21);
    const bad: string[] = [];
    const good: string[] = [];
    const waiting: Promise<void>[] = [];
    for (const { key, id } of store.devices) {
      const outcomes = key === culprit || key === 21 ? bad : good;
      waiting.push(submit(ingest, await admitted(ingest, id), 1, outcomes));
    }
    await Promise.all(waiting);
    assert.deepEqual(
      good,
      Array.from({ length: 38 }, () => "stored"),
    );
    assert.deepEqual(bad, ["failed", "failed"]);
    assert.equal(ingest.setAside(culprit)?.cause, "damaged");
    const commits = store.tries;
    const again = await admitted(ingest, "d2");
    for (let second = 2; second < 5; second++) {
      const more = [submit(ingest, again, second, good), submit(ingest, await admitted(ingest, "d21"), second, bad)];
      await Promise.all(more);
    }
    assert.equal(store.tries - commits, 3, "it costs the others' batches nothing more");
    store.spoilt.clear();
    for (let tries = 0; ingest.aside.size > 0 && tries < 100; tries++) {
      clock.time += 10_000;
      await submit(ingest, again, 10 + tries, good);
    }
    await ingest.stop();
    const stored = (key: number) => store.stored.reduce((sum, [of, records]) => sum + (of === key ? records : 0), 0);
    assert.deepEqual([stored(culprit), stored(21), ingest.aside.size], [1, 4, 0]);
  }
});

test("who is stored is told, however long a try of what is set aside takes", async () => {
  const { store, clock, ingest } = setUp();
  const outcomes: string[] = [];
  const spoilt = await admitted(ingest, "a");
  const good = await admitted(ingest, "b");
  store.spoilt.add(1);
  await submit(ingest, spoilt, 1, outcomes);
  const trial = Promise.withResolvers<undefined>();
  store.trouble = [
    () => {
      // The try is due once this commit is done.
      clock.time += 60_000;
      return undefined;
    },
    () => trial.promise,
  ];
  await submit(ingest, good, 1, outcomes);
  assert.deepEqual(outcomes, ["failed", "stored"]);
  trial.resolve(undefined);
  await ingest.stop();
});

test("an answer that throws keeps no other from being given, nor the next commit", async () => {
  const { ingest } = setUp();
  const outcomes: string[] = [];
  const one = await admitted(ingest, "a");
  const other = await admitted(ingest, "b");
  ingest.submit(one, [fix(1)], start, () => {
    throw new Error("a defect");
  });
  ingest.onDrained(() => {
    throw new Error("a defect");
  });
  await Promise.all([submit(ingest, one, 2, outcomes), submit(ingest, other, 1, outcomes)]);
  await submit(ingest, one, 3, outcomes);
  await ingest.stop();
  assert.deepEqual(outcomes, ["stored", "stored", "stored"]);
});

test("a fleet's backlog goes in shares: who reports as usual is in the next commit", async () => {
  const { store, ingest } = setUp();
  store.devices = Array.from({ length: 21 }, (_, index) => device({ key: index + 1, id: `d${index + 1}` }));
  const fleet = await Promise.all(store.devices.map(({ id }) => admitted(ingest, id)));
  const usual = fleet[20];
  assert.ok(usual);
  const outcomes: string[] = [];
  await Promise.all(fleet.map((one) => submit(ingest, one, 500, outcomes)));
  const before = store.commits.length;
  const packet = Array.from({ length: 100 }, (_, index) => fix(index));
  const waiting = fleet
    .slice(0, 20)
    .map((one) => new Promise<string>((resolve) => ingest.submit(one, packet, start, resolve)));
  await submit(ingest, usual, 501, outcomes);
  const [first] = store.commits.slice(before);
  assert.ok(first);
  assert.ok(first.devices.some(({ device: key }) => key === 21));
  const late = first.devices.filter(({ device: key }) => key !== 21);
  assert.ok(late.length > 0 && late.length <= 10, `${late.length} devices of 100 late reports each`);
  assert.deepEqual(
    await Promise.all(waiting),
    Array.from({ length: 20 }, () => "stored"),
  );
  await ingest.stop();
});
