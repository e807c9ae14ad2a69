import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { said, sortedOnce, start } from "../../test/contract/positions/said.ts";
import { runs } from "../../test/support/runs.ts";
import { followedState } from "../fold/state.ts";
import { stepOf } from "../fold/step.ts";
import { advance } from "../fold/totals.ts";
import { firstArrival, type LocationRecord, neverReported } from "../model/location.ts";
import { keyOf, type SaidRecord } from "../model/said.ts";
import { asBeginning, dayOf, type FoldPoint, nothing, samePoint, totalsOf } from "./days.ts";
import { DeviceFollow, type Followed, HistoryUnreadable, type ReadFrom } from "./device-follow.ts";
import { stateOf } from "./device-state.ts";

/** Few, so that short histories have points. */
const spacing = 5;

/** All that a device said, as it came. */
class Said {
  readonly came: SaidRecord[] = [];
  /** Called before each page is read, and after it was. */
  during: () => void = () => undefined;

  readonly read: ReadFrom = async (from, after) => {
    this.during();
    const all = sortedOnce(this.came).filter(({ time }) => time >= from);
    const next = after === undefined ? 0 : all.findIndex(({ time }) => time === after.time) + after.nth;
    const records = all.slice(next, next + 7);
    const last = records.at(-1);
    const nth = last && all.filter(({ time }) => time === last.time).indexOf(last) + 1;
    const more = next + 7 < all.length && last !== undefined && nth !== undefined;
    await Promise.resolve();
    this.during();
    return { records, unreadable: [], ...(more && { next: { time: last.time, nth } }) };
  };
}

/** The plain fold: the point behind each record, with the sums of its day. */
function plainFold(records: readonly SaidRecord[]): readonly FoldPoint[] {
  let point = nothing;
  return records.map((record) => {
    if (point.time !== undefined && dayOf(point.time) !== dayOf(record.time)) point = asBeginning(point);
    const totals = advance(point.totals, point.time, stepOf(record));
    point = { time: record.time, totals, records: point.records + 1 };
    return point;
  });
}

function compare(followed: Followed, came: readonly SaidRecord[]): void {
  const { days, late, newest } = followed;
  const records = sortedOnce(came);
  const points = plainFold(records);
  assert.deepEqual(late, []);
  assert.deepEqual(newest, records.at(-1));
  assert.deepEqual(
    followed.located,
    records.findLast((record) => !record.unlocated),
  );
  const byDay = [...Map.groupBy(points, ({ time = 0 }) => dayOf(time))];
  assert.deepEqual(
    days.map(({ day }) => day),
    byDay.map(([day]) => day),
  );
  let before = nothing;
  for (const [index, [, own]] of byDay.entries()) {
    const day = days[index];
    const end = own.at(-1);
    assert.ok(day !== undefined && end !== undefined);
    assert.ok(samePoint(day.before, asBeginning(before)));
    assert.ok(samePoint(day.end, end));
    for (const point of day.points) {
      const same = own.findLast(({ time }) => time === point.time);
      assert.ok(same !== undefined && samePoint(point, same));
    }
    before = end;
  }
  let totals = nothing.totals;
  const located = records.map(({ key, ...record }, at): LocationRecord => {
    totals = advance(totals, records[at - 1]?.time, stepOf(record));
    return { ...record, hash: key, arrival: firstArrival, totals };
  });
  assert.deepEqual(totalsOf(followed.days), totals);
  const state = followedState(neverReported, located);
  if (records.length > 0)
    assert.deepEqual(
      { ...stateOf(followed), version: 1, arrivals: records.length },
      { ...state, ...(state.last && { last: { ...state.last, totals } }) },
    );
}

const day = 86_400_000;

/** A drive with stops, jumps that nobody makes, records without a position, inputs, and hours or days of silence. */
const history = fc
  .array(
    fc.record({
      elapsed: fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(0, 0, 1000, 60_000) },
        { weight: 2, arbitrary: fc.constantFrom(3_600_000, 0.4 * day, day, 3 * day) },
      ),
      north: fc.oneof({ weight: 15, arbitrary: fc.nat(400) }, { weight: 1, arbitrary: fc.nat(5_000_000) }),
      kind: fc.oneof(fc.nat(9), fc.constant(9)),
      speed: fc.constantFrom(undefined, 0, 2, 50),
      extras: fc.constantFrom(
        ',"attributes":{',
        ',"inputs":[true,false],"attributes":{',
        ',"inputs":[false,true,true,true],"attributes":{"ignition":"false"',
        ',"attributes":{"accuracy":"1500"',
      ),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((moves) => {
    let [time, latitude] = [start, 48];
    return moves.map(({ elapsed, north, kind, speed, extras }): SaidRecord => {
      time += elapsed;
      latitude = north > 1000 ? 48 : Math.round((latitude + north / 1e6) * 1e7) / 1e7;
      const place = { latitude: north > 1000 ? 48 + north / 1e6 : latitude, longitude: 11 };
      const fix = { valid: kind > 0, ...place, ...(speed !== undefined && { speed }) };
      const record = {
        time,
        receivedAt: time,
        extras,
        ...(kind === 9 ? { valid: false, unlocated: true as const, latitude: 0, longitude: 0 } : fix),
      };
      return { ...record, key: keyOf(record) };
    });
  });

/** In which order a history comes and what happens meanwhile. */
const acts = fc.array(
  fc.record({
    take: fc.integer({ min: 1, max: 15 }),
    from: fc.constantFrom("first", "last", "middle", "again"),
    next: fc.constantFrom("nothing", "nothing", "catchUp", "save", "crash"),
  }),
  { minLength: 1, maxLength: 40 },
);

describe("what follows from a device's records", () => {
  it("is that of the plain fold, in whatever order they come, through crashes, and while late ones are folded", async () => {
    await fc.assert(
      fc.asyncProperty(history, acts, async (records, some) => {
        const left = [...records];
        const said = new Said();
        let follow = new DeviceFollow(undefined, spacing);
        let [saved, savedAt]: [Followed, number] = [follow.followed, 0];
        const append = (part: readonly SaidRecord[]) => {
          said.came.push(...part);
          follow.appended(part);
        };
        const more = (take: number, from: string) => {
          if (from === "first") return left.splice(0, take);
          if (from === "last") return left.splice(-take);
          if (from === "middle") return left.splice(Math.floor(left.length / 2), take).reverse();
          return said.came.filter((_, index) => index % take === 0);
        };
        for (const { take, from, next } of some) {
          append(more(take, from));
          said.during = take % 3 > 0 ? () => append(left.splice(take - 1, 1)) : () => undefined;
          if (next === "catchUp") await follow.catchUp(said.read);
          else if (next === "save") [saved, savedAt] = [follow.followed, said.came.length];
          else if (next === "crash") {
            follow = new DeviceFollow(saved, spacing);
            for (const { time } of said.came.slice(savedAt)) follow.mark(time);
          }
        }
        said.during = () => undefined;
        append(left);
        while (follow.followed.late.length > 0) await follow.catchUp(said.read);
        compare(follow.followed, said.came);
      }),
      { numRuns: runs(15_000) },
    );
  });

  it("is found from the point before a late record on, and no further than to the next point", async () => {
    const records = Array.from({ length: 3000 }, (_, second) => said(second));
    const follow = new DeviceFollow(undefined, 100);
    const all = new Said();
    const append = (part: readonly SaidRecord[]) => {
      all.came.push(...part);
      follow.appended(part);
    };
    append(records.filter((_, at) => at !== 1234));
    append([records[1234] ?? said(0)]);
    let first: number | undefined;
    let pages = 0;
    await follow.catchUp((from, after) => {
      first ??= from;
      pages++;
      return all.read(from, after);
    });
    assert.equal(first, start + 1199_000 + 1);
    assert.ok(pages < 30, `${pages}`);
    compare(follow.followed, all.came);
  });

  it("goes on for newer records, and stays behind, where a part of its time can't be read", async () => {
    const follow = new DeviceFollow();
    follow.appended([said(10), said(20), said(5)]);
    const unreadable = [{ from: start, to: start, what: "block 3: its checksum is wrong" }];
    const damaged: ReadFrom = async () => {
      follow.appended([said(30)]);
      return { records: [said(5), said(10)], unreadable };
    };
    await assert.rejects(follow.catchUp(damaged), HistoryUnreadable);
    assert.equal(follow.followed.late.length, 1);
    assert.deepEqual(follow.followed.newest, said(30));
  });
});
