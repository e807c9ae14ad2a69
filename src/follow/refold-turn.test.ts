import assert from "node:assert/strict";
import { test } from "node:test";
import { said } from "../../test/contract/positions/said.ts";
import { MemoryFollow } from "../../test/support/follow-memory.ts";
import { noSums } from "../fold/days.ts";
import { stepOf } from "../fold/step.ts";
import { observationOf } from "../model/observation.ts";
import type { SaidRecord } from "../model/said.ts";
import type { FreshRecord } from "../ports/follow.ts";
import { DeviceFold } from "./device-fold.ts";
import { refoldTurn } from "./refold-turn.ts";

const dayS = 86_400;

function freshOf(record: SaidRecord): FreshRecord {
  return { ...observationOf(record), ...stepOf(record), ...record, speed: record.speed, course: record.course };
}

/**
 * The head after these came one after the other, and how many turns it took. `unseen`: found on disk after the first
 * turn has read.
 */
async function followed(
  parts: readonly (readonly SaidRecord[])[],
  all: readonly SaidRecord[],
  unseen: readonly SaidRecord[] = [],
) {
  const store = new MemoryFollow();
  const fold = new DeviceFold();
  const commit = async () => {
    const { head, days } = fold;
    await store.commit([{ device: 1, head, days }]);
    fold.committed(days);
  };
  for (const part of parts) {
    fold.take(part.map(freshOf), () => undefined);
    await commit();
  }
  let turns = 0;
  for (; fold.isLate && turns < 20; turns++) {
    await refoldTurn(fold, {
      days: (ask) => store.days(1, ask),
      sumsBefore: (day) => store.sumsBefore(1, day),
      records: async (from) => {
        const there = turns > 0 ? all : all.filter((record) => !unseen.includes(record));
        if (turns === 0) for (const { time } of unseen) fold.mark(time, time);
        return { records: there.filter(({ time }) => time >= from).map(freshOf), unreadable: [] };
      },
      told: async () => [],
      review: () => undefined,
      now: () => 0,
      monotonic: () => 0,
    });
    fold.endRefold();
    await commit();
  }
  return { head: fold.head, days: store.daysOf(1), turns };
}

test("what a late record changes for longer than a turn goes is as the plain fold has it", async () => {
  const silent = { extras: ',"attributes":{' };
  const late = said(70, { extras: ',"inputs":[true],"attributes":{' });
  for (const [days, turns] of [
    [20, 1],
    [31, 1],
    [32, 1],
    [33, 2],
    [100, 4],
  ] as const) {
    const rest = Array.from({ length: 2 * days }, (_, at) => said(dayS * ((at >> 1) + 1) + (at % 2) * 60, silent));
    const all = [said(10, silent), late, ...rest];
    const plain = await followed([all], all);
    const real = await followed([all.filter((record) => record !== late), [late]], all);
    assert.deepEqual(real.head, plain.head);
    assert.deepEqual(real.days, plain.days);
    assert.equal(real.turns, turns, `${days} days`);
    assert.ok(plain.head.sumsBefore.sensorMs[0] > 0);
  }
});

test("what is found to be late while a turn folds stays late, also where the turn goes no further than its days", async () => {
  const silent = { extras: ',"attributes":{' };
  const active = { extras: ',"inputs":[true],"attributes":{' };
  const [late, unseen] = [said(70, active), said(40, active)];
  for (const days of [20, 40]) {
    const rest = Array.from({ length: 2 * days }, (_, at) => said(dayS * ((at >> 1) + 1) + (at % 2) * 60, silent));
    const all = [said(10, silent), unseen, late, ...rest];
    const plain = await followed([all], all);
    const real = await followed([all.filter((one) => one !== late && one !== unseen), [late]], all, [unseen]);
    assert.deepEqual(real.head, plain.head);
    assert.deepEqual(real.days, plain.days);
  }
});

test("rules that take long give others their turn of the event loop", async () => {
  const records = Array.from({ length: 100 }, (_, at) => freshOf(said(10 + at)));
  const fold = new DeviceFold();
  fold.mark(0, 1e9);
  let [now, turns, isOver] = [0, 0, false];
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await refoldTurn(fold, {
    days: async () => [],
    sumsBefore: async () => noSums,
    records: async () => ({ records, unreadable: [] }),
    told: async () => [],
    review: () => ({
      toldFrom: 0,
      isCurrent: true,
      observe: () => {
        now += 20;
      },
      settled: () => undefined,
      meets: () => true,
      outcome: () => ({ rules: undefined, alerts: [], notices: [], ended: [], isWhole: true }),
    }),
    now: () => now,
    monotonic: () => now,
  });
  isOver = true;
  assert.ok(turns >= 90, `${turns} turns`);
  assert.equal(fold.head.today?.end.records, 100);
});
