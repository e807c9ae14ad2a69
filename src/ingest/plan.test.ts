import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { advance } from "../fold/totals.ts";
import { contentHashOf } from "../model/content-hash.ts";
import type { Fix, ReadingsReport, Report } from "../model/effects.ts";
import {
  byPlace,
  type DeviceState,
  type LocationRecord,
  neverReported,
  noTotals,
  placeBefore,
  type RecordPlace,
  shiftedTotals,
  type Totals,
  withTotals,
} from "../model/location.ts";
import type { HistoryContext } from "../ports/store.ts";
import { type Draft, draftOf } from "./draft.ts";
import { ordered } from "./pending.ts";
import { type Plan, planAppend, planLate, type Stretch } from "./plan.ts";

/** The simplest store that keeps what the port says: one device, an array in order. */
class History {
  records: LocationRecord[] = [];
  state: DeviceState = neverReported;

  context(place: RecordPlace, limit: number): HistoryContext {
    const start = this.records.findIndex((record) => byPlace(record, place) > 0);
    const from = start < 0 ? [] : this.records.slice(start, start + limit);
    const before = start < 0 ? this.records.at(-1) : this.records[start - 1];
    return { ...(before && { before }), from, more: start >= 0 && this.records.length > start + limit };
  }

  apply(plan: Plan): void {
    assert.equal(plan.state.version, this.state.version + 1);
    for (const shift of plan.shifts ?? [])
      this.records = this.records.map((record) =>
        byPlace(record, { time: shift.afterTime, arrival: shift.afterArrival }) <= 0
          ? record
          : withTotals(record, shiftedTotals(record.totals, shift)),
      );
    for (const patch of plan.patches) {
      const index = this.records.findIndex((record) => keyText(record) === keyText(patch));
      const record = this.records[index];
      assert.ok(record, "a patch names a stored record");
      this.records[index] = withTotals(record, patch.totals);
    }
    for (const record of plan.records)
      assert.ok(!this.records.some((stored) => keyText(stored) === keyText(record)), "no repeat is stored");
    this.records = [...this.records, ...plan.records].sort(byPlace);
    this.state = plan.state;
  }

  /** What surrounds some of the drafts. `stretches`: which ones, and how many records each shows. */
  #further(drafts: readonly Draft[], stretches: readonly number[]): readonly Stretch[] {
    const times = new Set(stretches.map((at) => drafts[at % drafts.length]?.time ?? 0));
    const limit = (stretches[0] ?? 0) % 5;
    return [...times]
      .sort((one, other) => one - other)
      .map((time) => ({ time, context: this.context(placeBefore(time), limit + 1) }));
  }

  /** As the planner does: append where nothing is older, otherwise fold again with a growing context. */
  take(batch: readonly Draft[], firstLimit: number, stretches: readonly number[] = []): void {
    let drafts = ordered(batch);
    while (drafts[0] !== undefined) {
      if (drafts[0].time >= this.state.time) {
        const { time } = this.state;
        const stored = this.records.filter((record) => record.time === time);
        const hashes = new Set(stored.flatMap((record) => [record.hash, contentHashOf(record)]));
        const fresh = drafts.filter((draft) => draft.time !== time || !hashes.has(draft.hash));
        if (fresh.length > 0) this.apply(planAppend(this.state, fresh).plan);
        return;
      }
      for (let limit = firstLimit; ; limit *= 2) {
        const context = this.context(placeBefore(drafts[0].time), limit);
        const late = planLate(this.state, context, drafts, false, undefined, this.#further(drafts, stretches));
        if (late === "more context") continue;
        if (late.plan !== undefined) this.apply(late.plan);
        drafts = late.leftover;
        break;
      }
    }
  }
}

const report: fc.Arbitrary<Report> = fc
  .record({
    // A clock that was not set, reports of every few seconds, and of every minute.
    time: fc.oneof(
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 5 }).map((minute) => Date.UTC(2000, 0, 1) + minute * 60_000) },
      { weight: 5, arbitrary: fc.integer({ min: 0, max: 90 }).map((step) => Date.UTC(2026, 0, 1) + step * 5_000) },
      { weight: 5, arbitrary: fc.integer({ min: 1, max: 40 }).map((minute) => Date.UTC(2026, 0, 1) + minute * 60_000) },
    ),
    located: fc.integer({ min: 0, max: 5 }).map((choice) => choice > 0),
    valid: fc.integer({ min: 0, max: 5 }).map((choice) => choice > 0),
    // Also out of reach, and no place at all.
    latitude: fc.constantFrom(48, 48.00002, 48.00005, 48.0001, 48.0002, 48.01, 48.02, 52, 52.001, 0),
    accuracy: fc.constantFrom(undefined, undefined, undefined, 900, 1500),
    speed: fc.constantFrom(undefined, 0, 0, 4, 50),
    ignition: fc.constantFrom(undefined, undefined, true, false),
    input1: fc.constantFrom(undefined, true, false),
    input3: fc.constantFrom(undefined, undefined, true, false),
  })
  .map(({ time, located, valid, latitude, accuracy, speed, ignition, input1, input3 }): Report => {
    const readings = {
      ...(accuracy !== undefined && { accuracy }),
      ...(ignition !== undefined && { ignition }),
      ...(input1 !== undefined && { input1 }),
      ...(input3 !== undefined && { input3 }),
    };
    const common = { time, alarms: [], readings, attributes: {} };
    if (!located) return { type: "readings", ...common } satisfies ReadingsReport;
    return {
      type: "fix",
      ...common,
      valid,
      latitude,
      longitude: latitude === 0 ? 0 : 11,
      ...(speed !== undefined && { speed }),
    } satisfies Fix;
  });

const drafts = fc.array(
  report.map((made) => draftOf(made, made.time ?? 0, Date.UTC(2026, 0, 2), false)),
  { minLength: 1, maxLength: 30 },
);

function keyText({ time, hash }: Pick<LocationRecord, "time" | "hash">): string {
  return `${time}/${hash}`;
}

/** What the totals must be: the fold over all records in order. */
function folded(all: readonly Draft[]): { time: number; totals: Totals }[] {
  let totals = noTotals;
  let time: number | undefined;
  const result: { time: number; totals: Totals }[] = [];
  for (const draft of all) {
    const next = advance(totals, time, draft);
    totals = next;
    time = draft.time;
    result.push({ time, totals });
  }
  return result;
}

/** Numbers of arrival tell the delivery, not the history. */
function unnumbered({ arrival: _arrival, ...record }: LocationRecord) {
  return record;
}

function withoutNumbers({ last, version: _version, ...state }: DeviceState) {
  return { ...state, last: last && unnumbered(last) };
}

const deliveries = fc
  .tuple(drafts, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(20), { maxLength: 5 }))
  .chain(([all, batchSize, limit, stretches]) =>
    fc
      .shuffledSubarray([...all, ...all], { minLength: all.length * 2, maxLength: all.length * 2 })
      .map((order) => ({ order, batchSize, limit, stretches })),
  );

test("records delivered late, repeated and in any batches give the totals of their order in time", () => {
  fc.assert(
    fc.property(deliveries, ({ order, batchSize, limit, stretches }) => {
      const history = new History();
      for (let at = 0; at < order.length; at += batchSize)
        history.take(order.slice(at, at + batchSize), limit, stretches);
      // Of one moment, as they came first.
      const inOrder = ordered(order);
      const expected = folded(inOrder);
      assert.equal(history.records.length, expected.length);
      history.records.forEach((record, index) => {
        const want = expected[index];
        assert.ok(want);
        assert.equal(record.time, want.time);
        assert.deepEqual(record.totals, want.totals);
      });
      const appended = planAppend(neverReported, inOrder).plan;
      assert.deepEqual(history.records.map(unnumbered), appended.records.map(unnumbered));
      assert.deepEqual(withoutNumbers(history.state), withoutNumbers(appended.state));
      assert.equal(new Set(history.records.map(({ arrival }) => arrival)).size, expected.length);
    }),
    { numRuns: 2000 },
  );
});

test("the last location keeps the last valid position with the newer time and readings", () => {
  const at = (minute: number) => Date.UTC(2026, 0, 1, 0, minute);
  const fix = (minute: number, valid: boolean, latitude: number): Draft =>
    draftOf(
      {
        type: "fix",
        time: at(minute),
        valid,
        latitude,
        longitude: 11,
        speed: 20,
        alarms: [],
        readings: {},
        attributes: {},
      },
      at(minute),
      at(minute),
      false,
    );
  const { state } = planAppend(neverReported, [fix(1, true, 48), fix(2, false, 0)]).plan;
  assert.equal(state.last?.time, at(2));
  assert.equal(state.last?.latitude, 48);
  assert.equal(state.last?.positionTime, at(1));
  assert.equal(state.last?.speed, undefined);
});

test("the last location keeps the last credible position with the newer time and readings, until a second fix confirms another", () => {
  const fix = (second: number, latitude: number, longitude: number, accuracy = 5): Draft => {
    const time = Date.UTC(2026, 0, 1) + second * 1000;
    const readings = { accuracy };
    const said = { type: "fix", valid: true, alarms: [], attributes: {}, readings, speed: 20 } as const;
    return draftOf({ ...said, time, latitude, longitude }, time, time, false);
  };
  const shown = (...drafts: readonly Draft[]) => {
    const { last } = planAppend(neverReported, drafts).plan.state;
    return [last?.latitude, last?.longitude, last?.speed, last?.positionTime];
  };
  const good = fix(0, 48, 11);
  const kept = [48, 11, undefined, good.time];
  assert.deepEqual(shown(good, fix(10, 0, 0)), kept, "0,0");
  assert.deepEqual(shown(good, fix(0, 0, 0)), kept, "0,0 at the same moment");
  assert.deepEqual(shown(good, fix(10, 48.001, 11, 1001)), kept, "worse than 1,000 m");
  assert.deepEqual(shown(good, fix(10, 49, 11)), kept, "out of reach");
  assert.deepEqual(shown(good, fix(10, 49, 11), fix(20, 50, 11)), kept, "out of reach of both");
  assert.deepEqual(shown(good, fix(10, 49, 11), fix(20, 49.001, 11)), [49.001, 11, 20, undefined], "confirmed");
  assert.deepEqual(shown(fix(0, 0, 0)), [0, 0, 20, undefined], "nothing else is known");
});

test("a draft that no rule looks at keeps its readings as text only", () => {
  const report = { type: "readings", alarms: [], readings: { battery: 50 }, attributes: { io1: 2 } } as const;
  const [watched, unwatched] = [draftOf(report, 1, 1, true), draftOf(report, 1, 1, false)];
  assert.deepEqual([watched.readings, watched.attributes], [report.readings, report.attributes]);
  assert.deepEqual([unwatched.readings, unwatched.attributes], [{}, {}]);
  assert.deepEqual({ ...unwatched, readings: report.readings, attributes: report.attributes }, watched);
});

test("a repeat of what an earlier version stored under another hash is known", () => {
  fc.assert(
    fc.property(drafts, (all) => {
      const history = new History();
      history.take(all, 4);
      const { records } = history;
      history.records = records.map((record, index) => ({ ...record, arrival: index, hash: index }));
      history.take(all, records.length + 1);
      assert.equal(history.records.length, records.length);
    }),
  );
});
