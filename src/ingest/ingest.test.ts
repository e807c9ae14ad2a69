import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/support/runs.ts";
import { admitted, fix, setUp, start, submit } from "../../test/support/troubled-store.ts";
import { StoreUnavailable } from "../ports/store.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));
const down = () => Promise.reject(new StoreUnavailable("disk full"));

describe("the way in", () => {
  it("appends what comes in one turn together, and what comes meanwhile next", async () => {
    const { store, ingest } = setUp();
    const [a, b] = [await admitted(ingest, "a"), await admitted(ingest, "b")];
    const opened = Promise.withResolvers<void>();
    store.trouble = [() => opened.promise];
    const outcomes: string[] = [];
    const first = [submit(ingest, a, 1, outcomes), submit(ingest, b, 1, outcomes)];
    await turn();
    const second = [submit(ingest, a, 2, outcomes), submit(ingest, a, 3, outcomes)];
    assert.deepEqual(outcomes, []);
    opened.resolve();
    await Promise.all([...first, ...second]);
    assert.deepEqual(store.stored, [
      [1, 1],
      [2, 1],
      [1, 2],
    ]);
    await ingest.stop();
  });

  it("hands on what is appended before anybody is told", async () => {
    const { ingest, following } = setUp();
    const a = await admitted(ingest, "a");
    await new Promise<void>((resolve) =>
      ingest.submit(a, [fix(1)], start, () => {
        assert.equal(following.appends.length, 1);
        resolve();
      }),
    );
    await ingest.stop();
  });

  it("drops what a device sends again at once, and acknowledges it", async () => {
    const { store, ingest, following } = setUp();
    const a = await admitted(ingest, "a");
    const outcomes: string[] = [];
    await submit(ingest, a, 1, outcomes);
    await submit(ingest, a, 1, outcomes);
    assert.deepEqual([outcomes, store.stored], [["stored", "stored"], [[1, 1]]]);
    assert.deepEqual(following.heardOf, [1]);
    await ingest.stop();
  });

  it("answers nobody while the store is down, and then everybody once", async () => {
    const { store, ingest } = setUp();
    const a = await admitted(ingest, "a");
    store.trouble = [down];
    store.down = 2;
    const outcomes: string[] = [];
    const waiting = submit(ingest, a, 1, outcomes);
    await turn();
    await turn();
    assert.equal(ingest.congested, true);
    assert.equal(ingest.takes(a), false);
    assert.deepEqual(outcomes, []);
    await waiting;
    assert.deepEqual([outcomes, store.stored, ingest.congested], [["stored"], [[1, 1]], false]);
    await ingest.stop();
  });

  it("fails one device alone where its records can't be appended", async () => {
    const { store, ingest } = setUp();
    const [a, b] = [await admitted(ingest, "a"), await admitted(ingest, "b")];
    store.spoilt.add(2);
    const [good, bad]: [string[], string[]] = [[], []];
    await Promise.all([submit(ingest, a, 1, good), submit(ingest, b, 1, bad)]);
    assert.deepEqual([good, bad, store.stored], [["stored"], ["failed"], [[1, 1]]]);
    await ingest.stop();
  });

  it("refuses a device that is gone", async () => {
    const { store, bus, ingest } = setUp();
    const a = await admitted(ingest, "a");
    const outcomes: string[] = [];
    const waiting = submit(ingest, a, 1, outcomes);
    store.devices = [];
    bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
    await waiting;
    assert.deepEqual([outcomes, store.appends], [["refused"], []]);
    await ingest.stop();
  });

  it("keeps a report whose position is none on earth as evidence, and acknowledges it", async () => {
    const { store, ingest } = setUp();
    const a = await admitted(ingest, "a");
    const outcome = await new Promise((resolve) =>
      ingest.submit(a, [{ ...fix(1), latitude: 91 }, fix(2)], start, resolve),
    );
    assert.equal(outcome, "stored");
    assert.deepEqual([store.refused.map(({ cause }) => cause), store.stored], [["position"], [[1, 1]]]);
    await ingest.stop();
  });

  it("takes nothing more while too much waits to be followed", async () => {
    const { ingest, following } = setUp();
    const a = await admitted(ingest, "a");
    let drained = 0;
    ingest.onDrained(() => drained++);
    following.isFull = true;
    assert.deepEqual([ingest.congested, ingest.takes(a)], [true, false]);
    following.isFull = false;
    following.room();
    assert.deepEqual([ingest.congested, ingest.takes(a), drained], [false, true, 1]);
    await ingest.stop();
  });

  it("gives up what waits where it stops while the store is down", async () => {
    const { store, ingest } = setUp();
    const a = await admitted(ingest, "a");
    store.trouble = [down];
    store.down = Number.POSITIVE_INFINITY;
    const outcomes: string[] = [];
    void submit(ingest, a, 1, outcomes);
    await turn();
    await turn();
    await ingest.stop();
    assert.deepEqual([outcomes, store.appends], [[], []]);
  });

  it("goes on where an answer throws", async () => {
    const { store, ingest } = setUp();
    const a = await admitted(ingest, "a");
    ingest.submit(a, [fix(1)], start, () => {
      throw new Error("the connection is gone");
    });
    const outcomes: string[] = [];
    await submit(ingest, a, 2, outcomes);
    assert.deepEqual([outcomes, store.stored], [["stored"], [[1, 2]]]);
    await ingest.stop();
  });

  it("acknowledges what was appended, all of it and nothing else, in the order of each device, whatever fails", async () => {
    const act = fc.record({ device: fc.nat(1), trouble: fc.constantFrom("none", "none", "down", "lost") });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 30 }), async (acts) => {
        const { store, ingest } = setUp();
        const devices = [await admitted(ingest, "a"), await admitted(ingest, "b")];
        const acknowledged: string[] = [];
        const waiting = acts.map(async ({ device, trouble }, second) => {
          if (trouble === "down") store.trouble.push(down);
          // The answer is lost, and nobody knows whether it was done.
          if (trouble === "lost") store.trouble.push(async () => Promise.reject(new StoreUnavailable("no answer")));
          const own = devices[device];
          assert.ok(own);
          await new Promise<void>((resolve) =>
            ingest.submit(own, [fix(second)], start, (outcome) => {
              if (outcome === "stored") acknowledged.push(`${own.key} ${second}`);
              resolve();
            }),
          );
        });
        await Promise.all(waiting);
        const appended = store.appends.flatMap((batch) =>
          batch.flatMap(({ device, records }) => records.map(({ time }) => `${device} ${(time - start) / 1000}`)),
        );
        assert.deepEqual(acknowledged.toSorted(), [...new Set(appended)].toSorted());
        for (const key of ["1", "2"]) {
          const own = appended.filter((text) => text.startsWith(key)).map((text) => Number(text.slice(2)));
          assert.deepEqual(
            own,
            own.toSorted((one, other) => one - other),
          );
        }
        await ingest.stop();
      }),
      { numRuns: runs(300) },
    );
  });
});
