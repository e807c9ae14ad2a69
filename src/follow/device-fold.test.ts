import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { said, sortedOnce, start } from "../../test/contract/positions/said.ts";
import { MemoryFollow } from "../../test/support/follow-memory.ts";
import { runs } from "../../test/support/runs.ts";
import { stepOf } from "../fold/step.ts";
import { advance } from "../fold/totals.ts";
import type { Day, FoldPoint } from "../model/follow.ts";
import { observationOf } from "../model/observation.ts";
import { keyOf, type SaidRecord } from "../model/said.ts";
import type { FreshRecord } from "../ports/follow.ts";
import type { PositionPage, PositionPlace } from "../ports/positions.ts";
import { asBeginning, dayOf, nothing } from "./days.ts";
import { DeviceFold } from "./device-fold.ts";
import { HistoryUnreadable, type RefoldReads, refoldTurn } from "./refold-turn.ts";
import { totalsOf } from "./standing.ts";

/** Few, so that short histories have points. */
const spacing = 5;
const device = 7;

/** All that a device said, as it came. */
class Said {
  readonly came: SaidRecord[] = [];
  /** Called before each page is read, and after it was. */
  during: () => void = () => undefined;

  readonly read = async (from: number, after: PositionPlace | undefined): Promise<PositionPage> => {
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

/** A device that is followed, with the store behind it. */
class Followed {
  readonly said = new Said();
  readonly store = new MemoryFollow();
  fold = new DeviceFold(undefined, spacing);
  /** How much had come when the head was committed last. */
  #savedAt = 0;

  append(part: readonly SaidRecord[]): void {
    this.said.came.push(...part);
    this.fold.take(part.map(fresh), () => undefined);
  }

  async save(): Promise<void> {
    const { head, days } = this.fold;
    const came = this.said.came.length;
    await this.store.commit([{ device, head, days }]);
    this.fold.committed(days);
    this.#savedAt = came;
  }

  async crash(): Promise<void> {
    const [head] = await this.store.heads([device]);
    this.fold = new DeviceFold(head, spacing);
    const unknown = this.said.came.slice(this.#savedAt).map(({ time }) => time);
    if (unknown.length > 0) this.fold.mark(Math.min(...unknown), Math.max(...unknown));
  }

  async refold(): Promise<void> {
    if (!this.fold.isLate) return;
    await this.save();
    const reads: RefoldReads = {
      days: (ask) => this.store.days(device, ask),
      sumsBefore: (before) => this.store.sumsBefore(device, before),
      records: this.said.read,
      told: async () => [],
      review: () => undefined,
      now: () => 0,
    };
    try {
      await refoldTurn(this.fold, reads, spacing);
    } finally {
      this.fold.take(this.fold.endRefold(), () => undefined);
    }
  }
}

function fresh(record: SaidRecord): FreshRecord {
  return { ...observationOf(record), ...stepOf(record), ...record, speed: record.speed, course: record.course };
}

function samePoint(one: FoldPoint, other: FoldPoint | undefined): void {
  const plain = (point: FoldPoint | undefined) => JSON.parse(JSON.stringify(point ?? {}));
  assert.deepEqual(plain(one), plain(other));
}

async function compare({ said: { came }, fold, store }: Followed): Promise<void> {
  const { head } = fold;
  const records = sortedOnce(came);
  const points = plainFold(records);
  assert.deepEqual(head.late, []);
  assert.equal(head.newest?.key, records.at(-1)?.key);
  assert.equal(head.located?.key, records.findLast((record) => !record.unlocated)?.key);
  const byDay = [...Map.groupBy(points, ({ time = 0 }) => dayOf(time))];
  const days: Day[] = [...store.daysOf(device), ...(head.today ? [head.today] : [])];
  assert.deepEqual(
    days.map((one) => one.day),
    byDay.map(([one]) => one),
  );
  let before = nothing;
  for (const [index, [, own]] of byDay.entries()) {
    const one = days[index];
    const end = own.at(-1);
    assert.ok(one !== undefined && end !== undefined);
    samePoint(one.before, asBeginning(before));
    samePoint(one.end, end);
    for (const point of one.points) {
      const same = own.findLast(({ time }) => time === point.time);
      samePoint(point, same);
    }
    before = end;
  }
  let totals = nothing.totals;
  for (const [at, record] of records.entries()) totals = advance(totals, records[at - 1]?.time, stepOf(record));
  assert.deepEqual(totalsOf(head), totals);
}

describe("what follows from a device's records", () => {
  it("is that of the plain fold, in whatever order they come, through crashes, and while late ones are folded", async () => {
    await fc.assert(
      fc.asyncProperty(history, acts, async (records, some) => {
        const left = [...records];
        const followed = new Followed();
        for (const { take, from, next } of some) {
          const at = from === "first" ? 0 : from === "last" ? Math.max(0, left.length - take) : left.length >> 1;
          if (from === "again") followed.append(followed.said.came.slice(0, take));
          else followed.append(left.splice(at, take));
          followed.said.during = left.length > take ? () => followed.append(left.splice(take - 1, 1)) : () => undefined;
          if (next === "catchUp") await followed.refold();
          else if (next === "save") await followed.save();
          else if (next === "crash") await followed.crash();
        }
        followed.said.during = () => undefined;
        followed.append(left);
        for (let turns = 0; followed.fold.isLate; turns++) {
          assert.ok(turns < 500, "it never ends");
          await followed.refold();
        }
        await followed.save();
        await compare(followed);
      }),
      { numRuns: runs(15_000) },
    );
  });

  it("is found from the point before a late record on, and no further than to the next point", async () => {
    const records = Array.from({ length: 3000 }, (_, second) => said(second));
    const followed = new Followed();
    followed.append(records.filter((_, at) => at !== 1234));
    followed.append([records[1234] ?? said(0)]);
    let pages = 0;
    let first: number | undefined;
    const { read } = followed.said;
    Object.assign(followed.said, {
      read: (from: number, after: PositionPlace | undefined) => {
        first ??= from;
        pages++;
        return read(from, after);
      },
    });
    await followed.refold();
    assert.equal(first, start + 1229_000 + 1);
    assert.ok(pages < 30, `${pages}`);
    await followed.save();
    await compare(followed);
  });

  it("goes on for newer records, and stays behind, where a part of its time can't be read", async () => {
    const followed = new Followed();
    followed.append([said(10), said(20), said(5)]);
    const unreadable = [{ from: start, to: start, what: "block 3: its checksum is wrong" }];
    Object.assign(followed.said, {
      read: async () => {
        followed.append([said(30)]);
        return { records: [said(5), said(10)], unreadable };
      },
    });
    await assert.rejects(followed.refold(), HistoryUnreadable);
    assert.equal(followed.fold.head.late.length, 1);
    assert.equal(followed.fold.head.newest?.key, said(30).key);
  });
});
