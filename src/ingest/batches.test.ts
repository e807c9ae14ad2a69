import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fix, start } from "../../test/support/troubled-store.ts";
import type { Admitted } from "../ports/intake.ts";
import { Batches } from "./batches.ts";
import { Pending, type PendingDevice } from "./pending.ts";

const judging = { maxFutureMs: 600_000, watched: false, dropped: () => undefined };

/** Reports of a device: its key says whether they come late (even) and how many there are (a hundred from 100 on). */
function add(pending: Pending, key: number): void {
  const one = pending.of({ key } as Admitted);
  const reports = Array.from({ length: key >= 100 ? 100 : 1 }, (_, index) => fix(index + 1));
  one.add(reports, start, judging, () => undefined);
}

function rules(held: readonly number[] = [], unread: readonly number[] = []) {
  const isLate = ({ device }: PendingDevice) => device.key % 2 === 0;
  const isUnread = ({ device }: PendingDevice) => unread.includes(device.key);
  return { heldBack: (key: number) => held.includes(key), isLate, isUnread };
}

function keysOf(devices: readonly PendingDevice[]): readonly number[] {
  return devices.map(({ device }) => device.key);
}

test("after a long batch the few reports in order have one to themselves, and then all have their turn", () => {
  const batches = new Batches();
  const first = new Pending();
  for (const key of [1, 2, 101]) add(first, key);
  const second = new Pending();
  const long = batches.take(first, second, rules());
  assert.deepEqual(keysOf(long.devices), [1, 2, 101]);
  batches.took(long, 30, true);
  for (const key of [2, 101, 3, 4, 5]) add(second, key);
  const third = new Pending();
  const quick = batches.take(second, third, rules());
  assert.deepEqual(keysOf(quick.devices), [3, 5]);
  batches.took(quick, 30, true);
  assert.deepEqual(keysOf(batches.take(third, new Pending(), rules()).devices), [2, 4, 101]);
});

test("where nothing can be committed quickly, the batch behind a long one takes what there is", () => {
  const batches = new Batches();
  const first = new Pending();
  add(first, 2);
  batches.took(batches.take(first, new Pending(), rules()), 30, true);
  const second = new Pending();
  add(second, 4);
  assert.deepEqual(keysOf(batches.take(second, new Pending(), rules()).devices), [4]);
});

/**
 * Takes batches in turn, each `diskMs` long and longer by 0.3 ms for each late report, while one report in order and this many late ones always wait. Gives the last ten
 * batches: what each took, ms, and whether it had late reports.
 */
function inTurn(batches: Batches, turns: number, late: number, diskMs: number) {
  let pending = new Pending();
  add(pending, 1);
  for (let at = 1; at <= late; at++) add(pending, -2 * at);
  const taken: { readonly ms: number; readonly late: boolean }[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const rest = new Pending();
    const batch = batches.take(pending, rest, rules());
    pending = rest;
    const ms = diskMs + 0.3 * batch.late.length;
    batches.took(batch, ms, true);
    taken.push({ ms, late: batch.late.length > 0 });
    for (const key of keysOf(batch.devices)) add(pending, key);
  }
  return taken.slice(-10);
}

test("where any batch takes long, none leaves out the late reports for that", () => {
  const batches = new Batches();
  inTurn(batches, 100, 10, 30);
  assert.ok(inTurn(batches, 10, 10, 30).every(({ late }) => late));
});

test("a slow disk that is fast again is known to be, though late reports never end", () => {
  const batches = new Batches();
  inTurn(batches, 100, 2000, 150);
  const taken = inTurn(batches, 100, 2000, 2);
  assert.ok(
    taken.every(({ ms }) => ms < 40),
    JSON.stringify(taken),
  );
});

/** Takes late reports, as many as a batch may have, each time after a batch that stored nothing. Gives how many late reports each batch had. */
function withRepeatsBetween(batches: Batches, turns: number, diskMs: number, repeat: number): readonly number[] {
  return Array.from({ length: turns }, () => {
    const [repeats, pending] = [new Pending(), new Pending()];
    add(repeats, repeat);
    batches.took(batches.take(repeats, new Pending(), rules()), 1, false);
    for (let at = 1; at <= 2000; at++) add(pending, -2 * at);
    const batch = batches.take(pending, new Pending(), rules());
    batches.took(batch, diskMs + 0.3 * batch.late.length, true);
    return batch.late.length;
  });
}

for (const { what, repeat } of [
  { what: "repeats in order", repeat: 1 },
  { what: "late repeats", repeat: 2 },
])
  test(`a batch of nothing but ${what} tells nothing of the disk: late reports keep their share on a slow one`, () => {
    const late = withRepeatsBetween(new Batches(), 60, 150, repeat);
    assert.ok(
      late.slice(-20).every((reports) => reports >= 128),
      String(late),
    );
  });

test("a device whose history is being read stays", () => {
  const pending = new Pending();
  for (const key of [2, 4, 6, 8]) add(pending, key);
  const rest = new Pending();
  const { devices } = new Batches().take(pending, rest, rules([8], [2, 6, 8]));
  assert.deepEqual([keysOf(devices), [...rest.devices.keys()]], [[4], [2, 6, 8]]);
});

test("postponed reports tell nothing of what late reports cost", () => {
  const batches = new Batches();
  for (let batch = 0; batch < 20; batch++) {
    const pending = new Pending();
    for (let key = 2; key < 1000; key += 2) add(pending, key);
    const taken = batches.take(pending, new Pending(), rules());
    const late = taken.late.reduce((sum, { drafts }) => sum + drafts.length, 0);
    assert.ok(late <= 256 && late >= 200, `${late}`);
    // One of them was stored. The whole batch would have taken long at that pace.
    for (const one of taken.devices.slice(1)) one.postponed = true;
    batches.took(taken, 0.2, true);
  }
});

test("what is left over of a long backlog tells nothing of what late reports cost: the others' share stays", () => {
  const batches = new Batches();
  for (let batch = 0; batch < 20; batch++) {
    const pending = new Pending();
    for (let message = 0; message < 50; message++) add(pending, 100);
    const taken = batches.take(pending, new Pending(), rules());
    // Of five thousand reports fifty were stored.
    for (const one of taken.devices) one.left = one.drafts.length - 50;
    batches.took(taken, 8, true);
  }
  const others = new Pending();
  for (let key = 2; key < 4000; key += 2) add(others, key);
  const { late } = batches.take(others, new Pending(), rules());
  const reports = late.reduce((sum, { drafts }) => sum + drafts.length, 0);
  assert.ok(reports <= 256, `${reports}`);
});

test("every device that waits is taken once, whatever batches take and whoever is held back", () => {
  const batch = fc.record({
    come: fc.array(fc.integer({ min: 1, max: 130 }), { maxLength: 20 }),
    held: fc.array(fc.integer({ min: 1, max: 130 }), { maxLength: 5 }),
    ms: fc.integer({ min: 0, max: 60 }),
    unread: fc.array(fc.integer({ min: 1, max: 130 }), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 30 }), (rounds) => {
      const batches = new Batches();
      let waiting = new Pending();
      let came = 0;
      let taken = 0;
      const take = (held: readonly number[], unread: readonly number[], ms: number) => {
        const rest = new Pending();
        const one = batches.take(waiting, rest, rules(held, unread));
        for (const { device } of one.devices) assert.ok(!held.includes(device.key) && !unread.includes(device.key));
        taken += one.devices.reduce((sum, { reports }) => sum + reports, 0);
        waiting = rest;
        batches.took(one, ms, ms > 0);
        return one;
      };
      for (const { come, held, ms, unread } of rounds) {
        for (const key of come) add(waiting, key);
        came += come.reduce((sum, key) => sum + (key >= 100 ? 100 : 1), 0);
        take(held, unread, ms);
      }
      while (take([], [], 0).devices.length > 0);
      assert.ok(waiting.empty);
      assert.equal(taken, came);
    }),
    { numRuns: 300 },
  );
});

test("late reports have larger batches where no others report for a second, and small ones as soon as others do", () => {
  const batches = new Batches();
  let pending = new Pending();
  for (let at = 1; at <= 1000; at++) add(pending, 2 * at);
  /** How many late reports, each of which takes 0.1 ms, are in the last of some batches. Always a thousand wait. */
  const last = (turns: number, others: boolean) => {
    let late = 0;
    for (let turn = 0; turn < turns; turn++) {
      if (others && !pending.devices.has(1)) add(pending, 1);
      const rest = new Pending();
      const batch = batches.take(pending, rest, rules());
      pending = rest;
      late = batch.late.length;
      batches.took(batch, late * 0.1, true);
      for (const { device } of batch.late) add(pending, device.key);
    }
    return late;
  };
  assert.ok(last(20, true) <= 110);
  assert.ok(last(300, false) >= 200);
  assert.ok(last(20, true) <= 110);
});
