import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { said, sortedOnce, start } from "../../test/contract/positions/said.ts";
import { acts, device, Followed, history } from "../../test/support/followed.ts";
import { runs } from "../../test/support/runs.ts";
import { asBeginning, dayOf, nothing } from "../fold/days.ts";
import { stepOf } from "../fold/step.ts";
import { advance } from "../fold/totals.ts";
import type { Day, FoldPoint } from "../model/follow.ts";
import type { SaidRecord } from "../model/said.ts";
import type { PositionPlace } from "../ports/positions.ts";
import { HistoryUnreadable } from "./refold-turn.ts";
import { totalsOf } from "./standing.ts";

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
      read: (from: number, to: number, after: PositionPlace | undefined) => {
        first ??= from;
        pages++;
        return read(from, to, after);
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
