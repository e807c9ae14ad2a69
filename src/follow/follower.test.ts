import assert from "node:assert/strict";
import { test } from "node:test";
import { newAlert } from "../../test/contract/store/alert-values.ts";
import { first, second, followerWorld as world } from "../../test/support/follower-world.ts";
import { poisonedRecord, freshRecord as record, driveStart as start } from "../../test/support/fresh-record.ts";
import { until } from "../../test/support/gateway.ts";
import type { AlertEngine } from "../ports/alert-engine.ts";
import type { Unfollowed } from "../ports/positions.ts";
import { StoreUnavailable } from "../ports/store.ts";

const dayS = 86_400;

test("a record that can't be folded as it comes holds up no other device, and is folded in its turn", async (context) => {
  const { follower, stored, timeOf } = world(context);
  stored.set(1, [record(1), record(2)]);
  await follower.head(1);
  await follower.head(2);
  const batch = [
    { device: first, records: [record(1), poisonedRecord(2)] },
    { device: second, records: [record(3)] },
  ];
  follower.appended(batch, 1);
  assert.equal(await timeOf(2), start + 3000);
  await until(() => follower.lateSeconds > 0);
  await until(async () => (await timeOf(1)) === start + 2000 && follower.behind === 0);
  assert.equal(follower.lateSeconds, 0);
});

test("late records count for the lag as they lie on the disk, until they are folded", async (context) => {
  const { follower, stored } = world(context);
  const records = Array.from({ length: 200 }, (_, second) => record(second));
  stored.set(1, records);
  await follower.head(1);
  follower.appended([{ device: first, records: [record(199)] }], 1);
  await until(() => follower.lagBytes === 0);
  follower.appended([{ device: first, records: records.slice(0, 150) }], 2);
  await until(() => follower.lagBytes === 150 * 25);
  await until(() => follower.behind === 0);
  assert.equal(follower.lagBytes, 0);
});

test("a device whose rules can't be watched is followed all the same, and so are others", async (context) => {
  const watch: AlertEngine["watch"] = ({ key }) => {
    if (key === 1) throw new Error("a defect");
    return undefined;
  };
  const { follower, timeOf } = world(context, { watch });
  for (const known of [true, false]) {
    if (known) await Promise.all([follower.head(1), follower.head(2)]);
    const at = known ? 1 : 2;
    const batch = [first, second].map((each) => ({ device: each, records: [record(at)] }));
    follower.appended(batch, at);
    assert.deepEqual([await timeOf(1), await timeOf(2)], [start + at * 1000, start + at * 1000]);
  }
});

test("an append while the store of rules is down is followed later, and its failure is nobody's surprise", async (context) => {
  let isDown = true;
  const prepare: AlertEngine["prepare"] = () =>
    isDown ? Promise.reject(new StoreUnavailable("down", undefined, "down")) : undefined;
  const { follower, timeOf } = world(context, { prepare });
  const surprises: unknown[] = [];
  const surprised = (error: unknown) => surprises.push(error);
  process.on("unhandledRejection", surprised);
  follower.appended([{ device: first, records: [record(1)] }], 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  process.off("unhandledRejection", surprised);
  isDown = false;
  assert.deepEqual(surprises, []);
  await until(async () => (await timeOf(1)) === start + 1000);
});

test("what came while no watch could be made is reviewed", async (context) => {
  let isBroken = false;
  const reviewed: number[] = [];
  const watch: AlertEngine["watch"] = () => {
    if (isBroken) throw new Error("a defect");
    return undefined;
  };
  const review: AlertEngine["review"] = (_device, _standing, { late }) => {
    reviewed.push(late.from, late.to);
    return undefined;
  };
  const { follower, stored, timeOf } = world(context, { watch, review });
  stored.set(1, [record(1), record(2), record(3)]);
  follower.appended([{ device: first, records: [record(1)] }], 1);
  assert.equal(await timeOf(1), start + 1000);
  isBroken = true;
  follower.appended([{ device: first, records: [record(2), record(3)] }], 2);
  assert.equal(await timeOf(1), start + 3000);
  await until(async () => follower.behind === 0 && reviewed.length > 0);
  assert.deepEqual(reviewed, [start + 2000, start + 3000]);
});

test("what may be on disk though its append failed is looked for", async (context) => {
  const { follower, stored, timeOf } = world(context);
  await follower.head(1);
  follower.appended([{ device: first, records: [record(5)] }], 1);
  stored.set(1, [record(3), record(5), record(7)]);
  follower.mayBeAppended(1, { from: start + 3000, to: start + 7000 });
  await until(async () => (await timeOf(1)) === start + 7000 && follower.behind === 0);
  assert.equal((await follower.head(1))?.today?.end.records, 3);
});

test("a device whose positions can't be read holds up no other one", async (context) => {
  const { follower, stored, failing, timeOf } = world(context);
  failing.add(1);
  for (const key of [1, 2]) {
    stored.set(key, [record(1)]);
    follower.mayBeAppended(key, { from: start + 1000, to: start + 1000 });
  }
  assert.equal(await timeOf(2), start + 1000);
  assert.equal(await timeOf(1), undefined);
  failing.clear();
  await until(async () => (await timeOf(1)) === start + 1000);
});

test("a device that is gone rests, with late records and all", async (context) => {
  const { follower, stored, gone, bus, timeOf, follow } = world(context);
  stored.set(1, [record(1), record(2)]);
  follower.appended([{ device: first, records: [record(2)] }], 1);
  assert.equal(await timeOf(1), start + 2000);
  follower.appended([{ device: first, records: [record(1)] }], 2);
  gone.add(1);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await until(() => follower.inMemory === 0);
  assert.deepEqual([follower.behind, follower.uncommitted, follow.committed.length], [0, 0, 0]);
});

test("old positions with a late one among them are deleted when it is in the totals, and no refold begins meanwhile", async (context) => {
  const { follower, stored, follow, reads, timeOf } = world(context);
  const all = [record(10), record(40), record(dayS + 1), record(2 * dayS + 1)];
  stored.set(1, [...all, record(20)]);
  follower.appended([{ device: first, records: all }], 1);
  await timeOf(1);
  const [asked, read] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  follow.asked = asked.promise;
  reads.gate = read.promise;
  const deleted = follower.keeping.deleteBefore(1, start + dayS * 1000);
  follower.appended([{ device: first, records: [record(20)] }], 2);
  await new Promise((resolve) => setTimeout(resolve, 700));
  asked.resolve();
  assert.equal(await deleted, 0);
  read.resolve();
  const rests = () => until(async () => follower.behind === 0 && (await follower.head(1))?.late.length === 0);
  const days = () => follow.daysOf(1).map(({ day }) => day - start / (dayS * 1000));
  await rests();
  assert.deepEqual(days(), [0, 1]);
  const sums = (await follower.head(1))?.sumsBefore;
  assert.equal(await follower.keeping.deleteBefore(1, start + dayS * 1000), 3);
  await rests();
  assert.deepEqual(days(), [1]);
  assert.deepEqual((await follower.head(1))?.sumsBefore, sums);
  assert.deepEqual(sums, await follow.sumsBefore(1, 1e6));
});

test("an alert is told though its device is changed before the commit", async (context) => {
  let finds = 1;
  const alert = newAlert(1, 1);
  const watch: AlertEngine["watch"] = () => ({
    ...{ full: false, late: undefined, observe: () => undefined, tick() {}, settled: () => undefined },
    outcome: () => (finds-- > 0 ? { rules: undefined, alerts: [alert], notices: [], ended: [] } : undefined),
  });
  const { follower, bus, timeOf } = world(context, { watch });
  const told: unknown[] = [];
  bus.subscribe((event) => {
    if (event.type === "committed") for (const { plan } of event.devices) told.push(...(plan.alerts ?? []));
  });
  await timeOf(1);
  follower.appended([{ device: first, records: [record(1)] }], 1);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await until(() => told.length > 0);
  assert.deepEqual(told, [alert]);
});

test("a damaged head comes to the fold of what is kept, and to the sums of what was deleted", async (context) => {
  const all = [0, 1, 2, 3].flatMap((day) => [10, 20, 40].map((at) => record(day * dayS + at)));
  const later = [record(2 * dayS + 30), record(3 * dayS + 50)];
  const heads = [];
  for (const isDamaged of [false, true]) {
    const before = world(context);
    before.stored.set(1, [...all]);
    before.follower.appended([{ device: first, records: all }], 1);
    await before.timeOf(1);
    await before.follower.keeping.deleteBefore(1, start + dayS * 1000);
    await before.follower.stop();
    if (isDamaged) before.follow.damaged.add(1);
    before.stored.set(1, [...(before.stored.get(1) ?? []), ...later]);
    const { follower, timeOf } = world(context, {}, before);
    follower.appended([{ device: first, records: later }], 2);
    await until(async () => (await timeOf(1)) !== undefined && follower.behind === 0);
    const head = await follower.head(1);
    assert.deepEqual(head?.sumsBefore, await before.follow.sumsBefore(1, head?.today?.day ?? 0));
    heads.push(head);
  }
  const [whole, damaged] = heads;
  assert.ok((whole?.sumsBefore.odometerMm ?? 0) > 0);
  assert.equal(damaged?.keptFrom, start + dayS * 1000);
  assert.deepEqual(damaged, whole);
});

test("late records that had no turn before the end have it after the start, though nobody asks for their device", async (context) => {
  const before = world(context);
  before.stored.set(1, [record(1), record(2), record(3)]);
  before.follower.appended([{ device: first, records: [record(1), record(3)] }], 1);
  await before.timeOf(1);
  before.follower.appended([{ device: first, records: [record(2)] }], 2);
  await before.follower.stop();
  assert.deepEqual(await before.follow.lateDevices(0, 10), [1]);
  const { follower } = world(context, {}, before);
  await follower.start();
  await until(async () => (await before.follow.lateDevices(0, 10)).length === 0);
  const [head] = await before.follow.heads([1]);
  assert.equal(head?.today?.end.records, 3);
});

test("late records of a share that is gained have their turn, also where what is pending can't be read then", async (context) => {
  const before = world(context);
  before.stored.set(1, [record(1), record(2), record(3)]);
  before.follower.appended([{ device: first, records: [record(1), record(3)] }], 1);
  await before.timeOf(1);
  before.follower.appended([{ device: first, records: [record(2)] }], 2);
  await before.follower.stop();
  // biome-ignore lint/correctness/useYield: it fails before it gives anything.
  async function* unfollowed(): AsyncGenerator<Unfollowed, void, undefined> {
    throw new StoreUnavailable("down", undefined, "down");
  }
  const { follower } = world(context, {}, { ...before, unfollowed });
  follower.gained([1]);
  await until(async () => (await before.follow.lateDevices(0, 10)).length === 0);
});

test("a head that is asked for while a gained share's pending records are read has them", async (context) => {
  const gate = Promise.withResolvers<void>();
  async function* unfollowed(): AsyncGenerator<Unfollowed, void, undefined> {
    await gate.promise;
    yield { place: 1, spans: [{ device: 1, from: start + 1000, to: start + 1000 }] };
  }
  const { follower, timeOf } = world(context, {}, { stored: new Map([[1, [record(1)]]]), unfollowed });
  follower.gained([1]);
  const time = timeOf(1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  gate.resolve();
  assert.equal(await time, start + 1000);
});

test("whoever asks for a head finds its ended days in the store, also where a day ends meanwhile", async (context) => {
  const { follower, follow, timeOf } = world(context);
  await timeOf(1);
  const commit = follow.commit.bind(follow);
  let day = 1;
  follow.commit = async (batch) => {
    if (day < 4) follower.appended([{ device: first, records: [record(dayS * ++day)] }], day);
    await commit(batch);
  };
  follower.appended([{ device: first, records: [record(1), record(dayS)] }], 1);
  const head = await follower.head(1);
  assert.ok(head?.today !== undefined);
  assert.equal(follow.daysOf(1).at(-1)?.day, head.today.day - 1);
});

test("nobody waits for a head that is asked for after the end", async (context) => {
  const { follower } = world(context);
  await follower.stop();
  await assert.rejects(Promise.resolve(follower.head(1)), StoreUnavailable);
});

test("an account whose rules can't be read holds up no other one, and is followed all the same", async (context) => {
  let isBroken = true;
  const prepare: AlertEngine["prepare"] = (accounts) =>
    isBroken && [...accounts].includes(7)
      ? Promise.reject(new StoreUnavailable("a damaged page", undefined, "damaged"))
      : undefined;
  const reviewed: number[] = [];
  const review: AlertEngine["review"] = (_device, _standing, { late }) => {
    reviewed.push(late.from, late.to);
    return undefined;
  };
  const { follower, stored, timeOf } = world(context, { prepare, review });
  stored.set(1, [record(1)]);
  const batch = [{ ...first, accountKey: 7 }, second].map((each) => ({ device: each, records: [record(1)] }));
  follower.appended(batch, 1);
  assert.deepEqual([await timeOf(2), await timeOf(1)], [start + 1000, start + 1000]);
  isBroken = false;
  await until(() => follower.behind === 0 && reviewed.length > 0);
  assert.deepEqual(reviewed, [start + 1000, start + 1000]);
});

test("a device whose days can't be read holds up no other one, and is followed when they can", async (context) => {
  const { follower, follow, timeOf } = world(context);
  const days = follow.days.bind(follow);
  follow.damaged.add(1);
  follow.days = (device, ask) =>
    device === 1 ? Promise.reject(new StoreUnavailable("a damaged page", undefined, "damaged")) : days(device, ask);
  follower.appended(
    [first, second].map((each) => ({ device: each, records: [record(1)] })),
    1,
  );
  assert.equal(await timeOf(2), start + 1000);
  await assert.rejects(timeOf(1), StoreUnavailable);
  follow.days = days;
  await until(async () => (await timeOf(1)) === start + 1000 && follower.behind === 0 && follow.damaged.size === 0);
});

test("a device that is changed while its rules are read for a turn is not taken for one that is gone", async (context) => {
  let slow: Promise<void> | undefined;
  const asked = Promise.withResolvers<void>();
  const prepare: AlertEngine["prepare"] = () => {
    if (slow !== undefined) asked.resolve();
    return slow;
  };
  const { follower, stored, bus, timeOf } = world(context, { prepare });
  const [all, read] = [[1, 2, 3, 4, 5, 6].map((second) => record(second)), Promise.withResolvers<void>()];
  stored.set(1, all);
  follower.appended([{ device: first, records: all.filter((_, at) => at === 0 || at === 2) }], 1);
  await timeOf(1);
  follower.appended([{ device: first, records: all.slice(1, 2) }], 2);
  await timeOf(1);
  const change = () => bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  change();
  slow = read.promise;
  await until(() => follower.behind === 1);
  await asked.promise;
  follower.appended([{ device: first, records: all.slice(3) }], 3);
  change();
  slow = undefined;
  read.resolve();
  await until(() => follower.behind === 0 && follower.lagBytes === 0);
  const head = await follower.head(1);
  assert.deepEqual([head?.newest?.time, head?.today?.end.records], [start + 6000, 6]);
});

test("what waits is reviewed where the rules of a device that was changed can't be read", async (context) => {
  let isReady = false;
  let isBroken = true;
  let reviewed = 0;
  const prepare: AlertEngine["prepare"] = (keys) =>
    isReady || [...keys].length === 0
      ? undefined
      : Promise.resolve().then(() => {
          if (isBroken) throw new StoreUnavailable("a rule is damaged", undefined, "damaged");
          isReady = true;
        });
  const review: AlertEngine["review"] = () => {
    reviewed++;
    return undefined;
  };
  const { follower, stored, bus } = world(context, { prepare, review });
  stored.set(1, [record(1), record(2)]);
  follower.appended([{ device: first, records: [record(1), record(2)] }], 1);
  bus.publish({ type: "deviceChanged", accountKey: 1, key: 1, id: "a" });
  await until(() => follower.behind === 1);
  isBroken = false;
  await until(() => follower.behind === 0);
  assert.ok(reviewed > 0);
});
