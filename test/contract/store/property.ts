import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { firstArrival, type LocationRecord, placeBefore, placeBehind } from "../../../src/model/location.ts";
import { locationJson } from "../../../src/model/location-json.ts";
import type { Store } from "../../../src/ports/store.ts";
import { makeAccount, makeDevice } from "./harness.ts";
import { DeviceModel, type Step, someStep } from "./model.ts";
import { batchOf, everything, readAll, readingOf, someHash, someTime } from "./records.ts";

/** A batch: what each of two devices does; where it is undefined, the store is closed and opened again. */
type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;

const someBatches = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: fc.tuple(someStep, fc.option(someStep, { nil: undefined })) },
    { weight: 1, arbitrary: fc.constant(undefined) },
  ),
  { minLength: 1, maxLength: 10 },
);

const someQuestion = fc.record({
  from: someTime,
  to: someTime,
  after: fc.option(
    fc.record({
      time: someTime,
      arrival: fc.oneof(
        someHash,
        fc.nat({ max: 1000 }).map((number) => firstArrival + number),
      ),
    }),
    { nil: undefined },
  ),
  limit: fc.integer({ min: 0, max: 700 }),
  account: fc.constant(1),
  odometerStart: fc.double({ min: 0, max: 1e6, noNaN: true }),
});

const placed = (record: LocationRecord) => !record.unlocated || record.positionTime !== undefined;

function jsonOf(records: readonly LocationRecord[], odometerStart: number): string {
  return records.map((record) => locationJson(record, odometerStart)).join(",");
}

async function check(store: Store, model: DeviceModel, questions: readonly ValueOf<typeof someQuestion>[]) {
  const whole = await readAll(store, model.device);
  const locations = model.records.filter(placed);
  assert.equal(whole.json, jsonOf(locations, 0));
  assert.equal(whole.count, locations.length);
  const [state] = await store.locations.states([model.device]);
  if (model.state !== undefined) assert.deepEqual(state, model.state);
  for (const { after, ...question } of questions) {
    const range = { ...question, ...(after && { after }) };
    const read = await readAll(store, model.device, range);
    const expected = model.history(range);
    assert.equal(read.json, jsonOf(expected, range.odometerStart));
    const last = expected.at(-1);
    assert.deepEqual(read.last, last && { time: last.time, arrival: last.arrival });
    const readings = await readAll(store, model.device, { ...range, readings: true });
    const reported = model.history({ ...range, readings: true });
    assert.deepEqual(JSON.parse(`[${readings.json}]`), reported.map(readingOf));
    assert.deepEqual(readings.count, reported.length);
    for (const place of [placeBefore(question.from), placeBehind(question.from), ...(after ? [after] : [])]) {
      const context = await store.locations.context(model.device, place, question.limit);
      const expected = model.context(place, question.limit);
      assert.deepEqual(context, expected);
      const { before: _before, ...without } = expected;
      assert.deepEqual(await store.locations.context(model.device, place, question.limit, "without before"), without);
    }
    const { hashes, newest } = await store.locations.moment(model.device, after?.time ?? question.from);
    const ofMoment = model.records.filter(({ time }) => time === (after?.time ?? question.from));
    assert.deepEqual(newest, ofMoment.at(-1));
    const known = new Set(hashes);
    for (const record of ofMoment) assert.ok(known.has(record.hash));
  }
  assert.equal((await readAll(store, model.device, { ...everything, from: 1, to: 2 })).count, 0);
}

/** Random batches of late and repeated records, patches and shifts against the plainest model, with restarts in between. */
export function propertyContract(store: () => Store, reopen: () => Promise<void>, runs: number): void {
  describe("any history", () => {
    it("is what was committed, in any order, range and slice", async () => {
      const account = await makeAccount(store(), 1_000_000);
      // A run that is cut off by the time limit goes on, and must not meet what comes after.
      let last: Promise<void> = Promise.resolve();
      const run = async (batches: ValueOf<typeof someBatches>, questions: readonly ValueOf<typeof someQuestion>[]) => {
        const one = new DeviceModel((await makeDevice(store(), account.key)).key);
        const other = new DeviceModel((await makeDevice(store(), account.key)).key);
        for (const batch of batches) {
          if (batch === undefined) await reopen();
          else await commit(store(), [one, other], batch);
        }
        await check(store(), one, questions);
        await check(store(), other, questions);
      };
      await fc.assert(
        fc.asyncProperty(someBatches, fc.array(someQuestion, { maxLength: 4 }), (batches, questions) => {
          last = run(batches, questions);
          return last;
        }),
        // A run takes some 30 ms; shrinking may take a thousand of them.
        { numRuns: runs, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
      );
      await last;
    });
  });
}

async function commit(store: Store, models: readonly DeviceModel[], steps: readonly (Step | undefined)[]) {
  const devices = steps.flatMap((step, index) => (step && models[index] ? [models[index].apply(step)] : []));
  assert.equal(await store.locations.commit(batchOf(...devices)), undefined);
}
