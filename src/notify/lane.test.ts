import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause, setImmediate as turn } from "node:timers/promises";
import { silentLog } from "../../test/support/silent-log.ts";
import type { Notice } from "../model/notice.ts";
import type { Due, DueAsk } from "../ports/alert-store.ts";
import { Lane } from "./lane.ts";
import type { Showed } from "./targets.ts";

function mail(key: number): Notice {
  return {
    key,
    account: 1,
    id: `n${key}`,
    alertId: "a",
    device: 1,
    target: { channel: "email", to: "ana@example.org", language: null, timeZone: null, units: "metric" },
    state: "queued",
    reason: null,
    creation: 0,
    dueAt: 0,
    attempts: 0,
    finishedAt: null,
    peerId: null,
    countedDay: null,
  };
}

const calm = () => 0;

/**
 * What the store answers of these, all due at the same time, in the order of their keys: like the store it looks at a
 * thousand.
 */
function dueOf(all: readonly Notice[], { limit, after, besides, ofAccount }: DueAsk): Due {
  const behind = all.filter(({ key }) => key > (after?.key ?? 0));
  const places = behind.slice(0, 1000);
  const fresh = places.filter(({ key, account }) => besides?.has(key) !== true && ofAccount?.(account) !== false);
  const cut = fresh.length > limit;
  const notices = fresh.slice(0, limit);
  const last = (cut ? notices : places).at(-1);
  return { notices, last: last && { dueAt: last.dueAt, key: last.key }, more: cut || behind.length > places.length };
}

test("a mail server that hangs has a page of mails wait in memory, however many are due and however often the lane is woken", async () => {
  const all = Array.from({ length: 5000 }, (_, index) => mail(index + 1));
  const read = new Set<number>();
  const due = async (_channel: string, _now: number, ask: DueAsk) => {
    const found = dueOf(all, ask);
    for (const { key } of found.notices) read.add(key);
    return found;
  };
  const clock = { now: () => 1, monotonic: () => performance.now() };
  const sent = new Set<number>();
  let hangs = true;
  const waiting: (() => void)[] = [];
  const work = async ({ key }: Notice) => {
    if (hangs) await new Promise<void>((resolve) => waiting.push(resolve));
    all.splice(
      all.findIndex((each) => each.key === key),
      1,
    );
    sent.add(key);
    return { works: true };
  };
  const options = { parallel: 5, perTarget: 5, perFailing: 5 };
  const lane = new Lane("email", options, {
    notices: { due, postpone: async () => {} },
    clock,
    log: silentLog,
    busyLoad: calm,
    work,
  });
  for (let wake = 0; wake < 50; wake++) {
    lane.wake();
    await turn();
  }
  assert.ok(read.size <= 400, `${read.size} were read`);
  hangs = false;
  for (const go of waiting) go();
  while (sent.size < 5000) await turn();
  await lane.stop();
});

test("what comes to lie before a backlog is sent before its end", async () => {
  const all = Array.from({ length: 4000 }, (_, index) => mail(1000 + index));
  const due = async (_channel: string, _now: number, ask: DueAsk) => dueOf(all, ask);
  const sent: number[] = [];
  // Each takes a second.
  const clock = { now: () => 1, monotonic: () => sent.length * 1000 };
  const ended = Promise.withResolvers<void>();
  const work = async ({ key }: Notice) => {
    await turn();
    all.splice(
      all.findIndex((each) => each.key === key),
      1,
    );
    sent.push(key);
    if (sent.length === 300) all.unshift(mail(1));
    if (sent.length === 2000) ended.resolve();
    return { works: true };
  };
  const options = { parallel: 5, perTarget: 5, perFailing: 5 };
  const lane = new Lane("email", options, {
    notices: { due, postpone: async () => {} },
    clock,
    log: silentLog,
    busyLoad: calm,
    work,
  });
  lane.wake();
  await ended.promise;
  await lane.stop();
  assert.ok(sent.includes(1), "it still waits");
});

test("many targets that take very long leave half of the lane to those that do not", async () => {
  const slow = Array.from({ length: 3000 }, (_, index) => ({ ...mail(1 + index), device: index % 100 }));
  const quick = Array.from({ length: 20 }, (_, index) => ({ ...mail(5000 + index), device: 500 }));
  const due = async (_channel: string, _now: number, ask: DueAsk) => dueOf([...slow, ...quick], ask);
  let monotonic = 0;
  let sent = 0;
  const waiting: (() => void)[] = [];
  const work = async ({ device }: Notice) => {
    if (device === 500) sent++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return { works: true };
  };
  const options = {
    parallel: 8,
    perTarget: 4,
    perFailing: 1,
    targetOf: ({ device }: Notice) => String(device),
    slowMs: 5000,
  };
  const clock = { now: () => 1, monotonic: () => monotonic };
  const lane = new Lane("webhook", options, {
    notices: { due, postpone: async () => {} },
    clock,
    log: silentLog,
    busyLoad: calm,
    work,
  });
  lane.wake();
  for (let round = 0; round < 40; round++) {
    for (let pass = 0; pass < 20; pass++) await turn();
    monotonic += 9000;
    for (const go of waiting.splice(0)) go();
  }
  assert.equal(sent, 20);
  const stopped = lane.stop();
  for (let pass = 0; pass < 20; pass++) {
    await turn();
    for (const go of waiting.splice(0)) go();
  }
  await stopped;
});

/** A lane at one gateway over notices in the order of their keys. Each try lasts until the test lets it end. */
class GatewayBench {
  readonly due: Notice[] = [];
  readonly sent: Notice[] = [];
  readonly underWay = new Set<() => void>();
  /** The most that waited in memory or were under way. */
  mostHeld = 0;
  now = 1;
  /** What a try answers. */
  answer: (notice: Notice) => Showed = () => ({ works: true });
  readonly lane: Lane;

  constructor(parallel = 10, busyLoad: () => number = calm) {
    const due = async (_channel: string, now: number, ask: DueAsk) => {
      const found = dueOf(
        this.due.filter(({ dueAt }) => dueAt <= now),
        ask,
      );
      this.mostHeld = Math.max(this.mostHeld, ask.besides?.size ?? 0);
      return found;
    };
    const clock = { now: () => this.now, monotonic: () => this.now };
    const postpone = async () => assert.fail("what is postponed is behind all that others have");
    const options = { parallel, perTarget: parallel, perFailing: parallel };
    const notices = { due, postpone };
    this.lane = new Lane("sms", options, {
      notices,
      clock,
      log: silentLog,
      busyLoad,
      work: (notice) => this.#work(notice),
    });
  }

  queue(account: number, count: number): void {
    const next = (this.due.at(-1)?.key ?? this.sent.length) + 100_000;
    for (let index = 0; index < count; index++) this.due.push({ ...mail(next + index), account });
    this.lane.wake();
  }

  /** Lets work under way end, and its consequences happen, `count` times. */
  async rounds(count: number): Promise<void> {
    for (let round = 0; round < count; round++) {
      for (let pass = 0; pass < 12; pass++) await turn();
      const ending = [...this.underWay];
      this.underWay.clear();
      for (const end of ending) end();
    }
  }

  sentOf(account: number): readonly Notice[] {
    return this.sent.filter((notice) => notice.account === account);
  }

  async stop(): Promise<void> {
    const stopped = this.lane.stop();
    await this.rounds(2);
    await stopped;
  }

  async #work(notice: Notice): Promise<Showed> {
    await new Promise<void>((resolve) => this.underWay.add(resolve));
    const showed = this.answer(notice);
    if (showed.works !== true || showed.pauseMs !== undefined) return showed;
    this.due.splice(
      this.due.findIndex(({ key }) => key === notice.key),
      1,
    );
    this.sent.push(notice);
    return showed;
  }
}

test("an account that queues thousands of SMS keeps no other account's waiting, and uses the whole lane while nobody else waits", async () => {
  const bench = new GatewayBench();
  bench.queue(1, 2000);
  await bench.rounds(3);
  assert.equal(bench.underWay.size + bench.sent.length, 30);
  const before = bench.sent.length;
  bench.queue(2, 3);
  await bench.rounds(3);
  assert.equal(bench.sentOf(2).length, 3);
  const last = bench.sent.findLastIndex(({ account }) => account === 2);
  assert.ok(last - before <= 20, `${last - before} were sent before`);
  await bench.rounds(200);
  assert.equal(bench.sent.length, 2003);
  const keys = bench.sentOf(1).map(({ key }) => key);
  assert.deepEqual(
    keys,
    keys.toSorted((a, b) => a - b),
  );
  await bench.stop();
});

test("what comes to lie before another account's queue is sent a second later", async () => {
  const bench = new GatewayBench();
  bench.queue(1, 3000);
  await bench.rounds(3);
  bench.due.unshift({ ...mail(1), account: 2 });
  bench.now += 1000;
  bench.lane.wake();
  await bench.rounds(3);
  assert.equal(bench.sentOf(2).length, 1);
  await bench.stop();
});

test("accounts with long queues share the lane equally, whoever queued first", async () => {
  const bench = new GatewayBench();
  for (const account of [1, 2, 3]) bench.queue(account, 3000);
  bench.queue(4, 300);
  await bench.rounds(125);
  for (const account of [1, 2, 3, 4]) {
    const sent = bench.sentOf(account).length;
    assert.ok(sent >= 250, `${sent} of account ${account}`);
  }
  await bench.rounds(900);
  assert.equal(bench.sent.length, 9300);
  assert.equal(new Set(bench.sent.map(({ key }) => key)).size, 9300);
  await bench.stop();
});

test("a peer that is silent has some hundred notices of 50 accounts wait in memory, however many are due and however often the lane is woken", async () => {
  const bench = new GatewayBench();
  for (let account = 0; account < 50; account++) bench.queue(account, account === 0 ? 5000 : 100);
  for (let wake = 0; wake < 300; wake++) {
    bench.lane.wake();
    await turn();
    bench.now += 1000;
  }
  assert.ok(bench.mostHeld <= 1000, `${bench.mostHeld} were held`);
  assert.equal(bench.underWay.size, 10);
  await bench.rounds(1200);
  assert.equal(bench.sent.length, 9900);
  await bench.stop();
});

test("a gateway that asks for less is left alone by all accounts, and takes them in turns afterwards", async () => {
  const bench = new GatewayBench();
  bench.queue(1, 2000);
  bench.answer = () => ({ works: true, pauseMs: 60_000 });
  await bench.rounds(1);
  bench.answer = () => ({ works: true });
  bench.queue(2, 3);
  await bench.rounds(5);
  assert.deepEqual([bench.sent.length, bench.underWay.size], [0, 0]);
  bench.now += 60_000;
  bench.lane.wake();
  await bench.rounds(3);
  assert.equal(bench.sentOf(2).length, 3);
  await bench.rounds(250);
  assert.equal(bench.sent.length, 2003);
  await bench.stop();
});

test("while the event loop is busy few tries begin at a time, all begin some time, and accounts take turns as before", async () => {
  const bench = new GatewayBench(100, () => 0.4);
  const begun = () => bench.sent.length + bench.underWay.size;
  bench.now += 1000;
  bench.queue(1, 60);
  await bench.rounds(1);
  bench.queue(2, 20);
  assert.equal(begun(), 4);
  while (bench.sent.length < 80) {
    const before = begun();
    bench.now += 5;
    await pause(1);
    await bench.rounds(1);
    assert.ok(begun() - before <= 4, `${begun() - before} began together`);
  }
  const last = bench.sent.findLastIndex(({ account }) => account === 2);
  assert.ok(last < 50, `${last} were sent before`);
  await bench.stop();
});

test("a lane that stops while it holds tries back begins none of them", async () => {
  const bench = new GatewayBench(100, () => 0.4);
  bench.now += 1000;
  bench.queue(1, 60);
  await bench.rounds(2);
  await bench.stop();
  bench.now += 1000;
  await pause(20);
  assert.deepEqual([bench.sent.length, bench.underWay.size], [4, 0]);
});

test("a lane that stops while the store can't be asked leaves no timer", async (context) => {
  const asked = Promise.withResolvers<never>();
  const due = () => asked.promise;
  const options = { parallel: 1, perTarget: 1, perFailing: 1 };
  const clock = { now: () => 0, monotonic: () => 0 };
  const lane = new Lane("email", options, {
    notices: { due, postpone: async () => {} },
    clock,
    log: silentLog,
    busyLoad: calm,
    work: async () => ({}),
  });
  lane.wake();
  const stopped = lane.stop();
  const timers = context.mock.method(globalThis, "setTimeout");
  asked.reject(new Error("the disk is gone"));
  await stopped;
  assert.equal(timers.mock.callCount(), 0);
});
