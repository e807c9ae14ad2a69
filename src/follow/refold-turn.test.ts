import assert from "node:assert/strict";
import { test } from "node:test";
import { said } from "../../test/contract/positions/said.ts";
import { newAlert } from "../../test/contract/store/alert-values.ts";
import { MemoryFollow } from "../../test/support/follow-memory.ts";
import { noSums } from "../fold/days.ts";
import { stepOf } from "../fold/step.ts";
import type { Alert } from "../model/alert.ts";
import { observationOf } from "../model/observation.ts";
import type { SaidRecord } from "../model/said.ts";
import type { ReviewOutcome } from "../ports/alert-engine.ts";
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
      commit: async () => true,
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
      outcome: () => ({ rules: undefined, alerts: [], notices: [], ended: [], more: undefined }),
    }),
    commit: async () => true,
    now: () => now,
    monotonic: () => now,
  });
  isOver = true;
  assert.ok(turns >= 90, `${turns} turns`);
  assert.equal(fold.head.today?.end.records, 100);
});

/**
 * What a review finds takes three commits. How often its records were folded, and what was committed on the way.
 * `meanwhile`: came in the second of them.
 */
async function inParts(isCommitted: boolean, meanwhile = said(200)) {
  const fold = new DeviceFold();
  fold.take([freshOf(said(100))], () => undefined);
  fold.mark(0, 100_000);
  const alerts = [10, 20, 30].map((second) => newAlert(1, second));
  const part = (at: number): ReviewOutcome => {
    const found = { rules: `${at}`, alerts: alerts.slice(at, at + 1), notices: [], ended: [] };
    return { ...found, more: at < 2 ? () => part(at + 1) : undefined };
  };
  const observed: number[] = [];
  const committed: Alert[] = [];
  const outcome = await refoldTurn(fold, {
    days: async () => [],
    sumsBefore: async () => noSums,
    records: async () => ({ records: [said(50), said(100)].map(freshOf), unreadable: [] }),
    told: async () => [],
    review: () => ({
      ...{ toldFrom: 0, isCurrent: true, settled: () => undefined, meets: () => true, outcome: () => part(0) },
      observe: ({ time }) => void observed.push(time),
    }),
    async commit(some) {
      committed.push(...some.alerts);
      if (committed.length === 2) fold.take([freshOf(meanwhile)], () => undefined);
      return isCommitted;
    },
    now: () => 0,
    monotonic: () => 0,
  });
  return { outcome, fold, alerts, observed, committed };
}

test("what a review finds beyond one commit is committed at once, and not reviewed again", async () => {
  const { outcome, fold, alerts, observed, committed } = await inParts(true);
  assert.deepEqual([...committed, ...(outcome?.alerts ?? [])], alerts);
  assert.deepEqual([observed.length, outcome?.rules, fold.isLate], [2, "2", false]);
});

test("where late records come while parts of what a review found are committed, the rest is found anew", async () => {
  const { outcome, fold, alerts, committed } = await inParts(true, said(70));
  assert.deepEqual([outcome, committed, fold.isLate], [undefined, alerts.slice(0, 2), true]);
});

test("where a part of what a review found can't be committed now, all of it stays late", async () => {
  const { outcome, fold, alerts, committed } = await inParts(false);
  assert.deepEqual([outcome, committed, fold.isLate], [undefined, alerts.slice(0, 1), true]);
});
