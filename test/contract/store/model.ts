import fc from "fast-check";
import type { DeviceCommit, TotalsPatch, TotalsShift } from "../../../src/model/commit.ts";
import { contentHashOf } from "../../../src/model/content-hash.ts";
import type { DeviceKey } from "../../../src/model/device.ts";
import {
  byPlace,
  type DeviceState,
  firstArrival,
  type LocationRecord,
  noTotals,
  type RecordPlace,
  shiftedTotals,
  type Totals,
  withTotals,
} from "../../../src/model/location.ts";
import type { HistoryContext, HistoryRange } from "../../../src/ports/store.ts";
import { someHash, someRecord, someTime, someTotals } from "./records.ts";

/** Sums are whole, so that they are the same in whatever order they are made. */
function whole(totals: Totals): Totals {
  const [first, second, third, fourth] = totals.sensorMs;
  return {
    ...totals,
    odometerMm: Math.floor(totals.odometerMm),
    sensorMs: [Math.floor(first), Math.floor(second), Math.floor(third), Math.floor(fourth)],
  };
}

const wholeTotals = someTotals.map(whole);
const wholeRecord = someRecord.map((record) => ({ ...record, totals: whole(record.totals) }));

/** What one device does in one batch, before it is known what is stored. */
export interface Step {
  readonly records: readonly LocationRecord[];
  /** New totals for stored records, chosen by place. */
  readonly patches: readonly { readonly place: number; readonly totals: Totals }[];
  readonly shifts: readonly TotalsShift[];
}

export const someStep: fc.Arbitrary<Step> = fc.record({
  records: fc.oneof(
    { weight: 4, arbitrary: fc.array(wholeRecord, { maxLength: 6 }) },
    { weight: 1, arbitrary: fc.tuple(wholeRecord, fc.integer({ min: 250, max: 600 })).map(spread) },
  ),
  patches: fc.array(fc.record({ place: fc.nat(), totals: wholeTotals }), { maxLength: 3 }),
  shifts: fc.array(
    fc.record({
      afterTime: someTime,
      afterArrival: someHash.map((hash) => (hash % 2 === 0 ? hash : firstArrival + (hash % 1000))),
      odometerMm: fc.integer({ min: -1000, max: 1000 }),
      sensorMs: fc.oneof(
        fc.constant([0, 0, 0, 0] as const),
        fc.tuple(fc.integer(), fc.integer(), fc.integer(), fc.integer()),
      ),
    }),
    { maxLength: 3 },
  ),
});

/** Many records from one: more than a chunk of any engine holds. */
function spread([record, count]: readonly [LocationRecord, number]): readonly LocationRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    ...record,
    time: record.time + index * 250,
    arrival: firstArrival + index,
    hash: contentHashOf(record),
  }));
}

/** What a store has to keep of one device, in the plainest form. */
export class DeviceModel {
  readonly device: DeviceKey;
  records: LocationRecord[] = [];
  state: DeviceState | undefined;

  constructor(device: DeviceKey) {
    this.device = device;
  }

  /** Makes a step's commit and takes it as done. Repeats are left out: a store is never given them. */
  apply(step: Step): DeviceCommit {
    const known = new Set(this.records.flatMap((record) => [keyText(record), placeText(record)]));
    const fresh: LocationRecord[] = [];
    for (const record of step.records.toSorted(byPlace)) {
      if (known.has(keyText(record)) || known.has(placeText(record))) continue;
      known.add(keyText(record)).add(placeText(record));
      fresh.push(record);
    }
    const patches: TotalsPatch[] = [];
    const patched = new Set<string>();
    for (const { place, totals } of step.patches) {
      const record = this.records[place % Math.max(1, this.records.length)];
      if (record === undefined || patched.has(keyText(record))) continue;
      patched.add(keyText(record));
      patches.push({ time: record.time, hash: record.hash, totals });
    }
    this.records = this.records.map((record) => changed(record, patches, step.shifts));
    this.records = this.records.concat(fresh).sort(byPlace);
    const last = this.records.at(-1);
    this.state = {
      version: (this.state?.version ?? 0) + 1,
      time: last?.time ?? 0,
      arrivals: this.records.length,
      totals: step.patches[0]?.totals ?? last?.totals ?? noTotals,
      ...(last && { last }),
    };
    return {
      device: this.device,
      records: fresh,
      patches,
      state: this.state,
      ...(step.shifts.length > 0 && { shifts: step.shifts }),
    };
  }

  history(range: HistoryRange): readonly LocationRecord[] {
    const { from, to, after, limit } = range;
    return this.records
      .filter((record) => range.readings || !record.unlocated || record.positionTime !== undefined)
      .filter(
        (record) => record.time >= from && record.time <= to && (after === undefined || byPlace(record, after) > 0),
      )
      .slice(0, limit);
  }

  context(place: RecordPlace, limit: number): HistoryContext {
    const before = this.records.findLast((record) => byPlace(record, place) <= 0);
    const from = this.records.filter((record) => byPlace(record, place) > 0);
    return { ...(before && { before }), from: from.slice(0, limit), more: from.length > limit };
  }
}

function keyText({ time, hash }: Pick<LocationRecord, "time" | "hash">): string {
  return `${time}/${hash}`;
}

function placeText({ time, arrival }: RecordPlace): string {
  return `${time} ${arrival}`;
}

function changed(
  record: LocationRecord,
  patches: readonly TotalsPatch[],
  shifts: readonly TotalsShift[],
): LocationRecord {
  const patch = patches.find((one) => keyText(one) === keyText(record));
  if (patch !== undefined) return withTotals(record, patch.totals);
  let { totals } = record;
  for (const shift of shifts)
    if (byPlace(record, { time: shift.afterTime, arrival: shift.afterArrival }) > 0)
      totals = shiftedTotals(totals, shift);
  return withTotals(record, totals);
}
