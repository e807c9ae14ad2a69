import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import fc from "fast-check";
import type { Command } from "../../src/model/command.ts";
import type { Notice } from "../../src/model/notice.ts";
import { type NoticeOutcome, type NoticeStore, noticeLeaseMs } from "../../src/ports/alert-store.ts";
import { newAlert, newNotice } from "../contract/store/alert-values.ts";
import { makeAccount, makeCommand, makeDevice, now, today } from "../contract/store/harness.ts";
import { reader } from "../support/concurrent-acts.ts";
import { noPostgres } from "../support/postgres.ts";
import { PostgresPair } from "../support/postgres-pair.ts";

const sent: NoticeOutcome = { state: "sent", reason: null, peerId: "<1@mail>", dueAt: 0 };
const failed: NoticeOutcome = { state: "failed", reason: "refused", peerId: null, dueAt: 0 };
const again: NoticeOutcome = { state: "queued", reason: "busy", peerId: null, dueAt: now };
/** Time between two looks of a process that sees the other all the time, at most. */
const lookMs = noticeLeaseMs / 3;
const places = { day: today, limit: 1000 };

describe("of two processes on one PostgreSQL database", { skip: noPostgres }, () => {
  let pair: PostgresPair;
  let account = 0;
  before(async () => {
    pair = await PostgresPair.open();
    account = (await makeAccount(pair.of(0), 100_000)).key;
  });

  /** E-mails of a new device. */
  async function make(count: number) {
    const device = (await makeDevice(pair.of(0), account)).key;
    const alert = newAlert(device, 1);
    const target = { channel: "email", to: "ana@example.org", ...reader } as const;
    const notices = Array.from({ length: count }, () => newNotice(alert, { target }));
    await pair.addAlert(alert, notices);
    const made = await pair.of(0).notices.list(device, { limit: count });
    const list = async () => (await pair.of(1).notices.list(device, { limit: count })).toReversed();
    return { device, alert, keys: made.map(({ key }) => key).toReversed(), list };
  }

  const claim = (index: number, key: number) => pair.of(index).notices.claim(key, now, places);
  const finish = (index: number, key: number, outcome: NoticeOutcome) =>
    pair.of(index).notices.finish(key, outcome, now);
  const renew = (index: number, at: number, underWay: readonly number[] = []) =>
    pair.of(index).notices.renew(at, underWay);

  it("the second takes nothing that the first works on, however long that takes", async () => {
    const { device, keys, list } = await make(3);
    const [one = 0, two = 0, three = 0] = keys;
    for (const key of [one, two]) assert.equal(await claim(0, key), "claimed");
    assert.equal(await claim(1, three), "claimed");
    // Their clocks have nothing in common.
    for (let turn = 0; turn < 5; turn++) {
      assert.equal(await renew(1, 1e9 + turn * noticeLeaseMs, [three]), 0);
      assert.equal(await renew(0, turn * 1000, [one, two]), 0);
    }
    assert.deepEqual(
      (await list()).map(({ state }) => state),
      ["sending", "sending", "sending"],
    );
    for (const outcome of [sent, failed, again]) assert.equal(await finish(1, one, outcome), "lost");
    assert.equal(await finish(0, one, sent), "recorded");
    assert.equal(await finish(0, two, failed), "recorded");
    assert.equal(await finish(0, three, again), "lost");
    assert.equal(await finish(1, three, again), "recorded");
    assert.deepEqual(
      (await list()).map(({ state }) => state),
      ["sent", "failed", "queued"],
    );
    assert.deepEqual(await pair.of(1).daily.sent(device, today), { sms: 0, email: 2 });
  });

  it("the second takes over what the first has not renewed for a lease, and late results change nothing", async () => {
    const { device, alert, keys, list } = await make(4);
    for (const key of keys) assert.equal(await claim(0, key), "claimed");
    const looks = [0, lookMs, 2 * lookMs, noticeLeaseMs - 1, noticeLeaseMs];
    const taken: number[] = [];
    for (const ms of looks) taken.push(await renew(1, 5000 + ms));
    assert.deepEqual(taken, [0, 0, 0, 0, 4]);
    const waiting = await list();
    assert.ok(waiting.every(({ state, countedDay }) => state === "queued" && countedDay === today));
    for (const key of keys.slice(0, 2)) assert.equal(await claim(1, key), "claimed");
    const before = await list();
    for (const outcome of [sent, failed, again, { ...failed, untried: true as const }])
      for (const key of keys) assert.equal(await finish(0, key, outcome), "lost");
    assert.equal(await renew(0, 0, keys), 0);
    assert.deepEqual(await list(), before);
    assert.deepEqual((await pair.of(0).alerts.find(alert.id))?.channels, []);
    assert.deepEqual(await pair.of(0).daily.sent(device, today), { sms: 0, email: 4 });
    const [one = 0, two = 0, three = 0, four = 0] = keys;
    for (const key of [one, two]) assert.equal(await finish(1, key, sent), "recorded");
    // The first goes on like any other.
    for (const key of [three, four]) assert.equal(await claim(0, key), "claimed");
    assert.equal(await finish(0, three, failed), "recorded");
    assert.equal(await finish(0, four, sent), "recorded");
    assert.deepEqual(
      (await list()).map(({ state, attempts }) => [state, attempts]),
      [
        ["sent", 2],
        ["sent", 2],
        ["failed", 2],
        ["sent", 2],
      ],
    );
    assert.deepEqual(await pair.of(0).daily.sent(device, today), { sms: 0, email: 3 });
  });

  it("neither takes anything over after a time in which the database was away for both", async () => {
    const { keys, list } = await make(1);
    const [key = 0] = keys;
    assert.equal(await claim(0, key), "claimed");
    for (const ms of [0, lookMs, 2 * lookMs, 20 * lookMs]) assert.equal(await renew(1, 1e10 + ms), 0);
    assert.equal(await renew(0, 0, [key]), 0);
    for (const turn of [21, 22, 23]) assert.equal(await renew(1, 1e10 + turn * lookMs), 0);
    assert.equal((await list())[0]?.state, "sending");
    assert.equal(await finish(0, key, sent), "recorded");
  });

  it("claims, results, renewals and take-overs at the same moment leave each notice to one", async () => {
    const { device, keys, list } = await make(40);
    let [at, recorded, takenOver] = [1e11, 0, 0];
    for (let round = 0; round < 8; round++) {
      const other = round + 1;
      const claims = await Promise.all(keys.flatMap((key) => [claim(round, key), claim(other, key)]));
      const held = (by: number) => keys.filter((_, place) => claims[2 * place + (by - round)] === "claimed");
      assert.ok(held(round).every((key) => !held(other).includes(key)));
      for (let look = 0; look < 3; look++, at += lookMs) await renew(other, at, held(other));
      // The claims of the first are over for the second, while the first renews them and records results.
      const ended = held(round).filter((_, place) => place % 4 === round % 4);
      const work = ended.map((key) => () => finish(round, key, sent));
      const all = [...work, () => renew(other, at, held(other)), () => renew(round, at, held(round))];
      const answers = await Promise.all((round < 4 ? all : all.toReversed()).map((each) => each()));
      const sure = answers.filter((answer) => answer === "recorded").length;
      recorded += sure;
      takenOver += answers.filter((answer) => answer === "lost").length;
      const left = (await list()).filter(({ state }) => state === "sending").map(({ key }) => key);
      for (const by of [round, other])
        for (const key of held(by).filter((one) => !ended.includes(one)))
          assert.equal(await finish(by, key, again), left.includes(key) ? "recorded" : "lost");
      at += lookMs;
    }
    assert.ok(recorded > 0);
    const stored = await list();
    assert.equal(stored.filter(({ state }) => state === "sent").length, recorded, `${takenOver} taken over`);
    assert.ok(stored.every(({ state }) => state === "sent" || state === "queued"));
    assert.equal((await pair.of(0).daily.sent(device, today)).email, 40);
    await pair.assertNoFaults();
  });

  it("any steps leave each notice to whoever claimed it last, until the lease is over, and none for ever", async () => {
    // The stores live on from run to run, and so does their time.
    let time = 2e11;
    await fc.assert(
      fc.asyncProperty(fc.array(someStep, { minLength: 10, maxLength: 60 }), async (steps) => {
        const { keys, list } = await make(3);
        const model = new Model(time, [pair.of(0).notices, pair.of(1).notices], keys, list);
        await model.begin();
        for (const step of steps) await model.act(step);
        time = await model.end();
      }),
      { numRuns: 60, interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
    );
  });

  it("the one that sent a command records what becomes of it", async () => {
    const device = (await makeDevice(pair.of(0), account)).key;
    const command = await makeCommand(pair.of(0), device, { channel: "sms", state: "sent" });
    const step = (index: number, from: "ours" | "failed" | "sent", to: Command["state"], reply: string) =>
      pair.of(index).commands.step(command.key, [from], to, { reply });
    assert.equal(await step(1, "ours", "delivered", "no"), undefined);
    assert.equal((await step(0, "ours", "failed", "first"))?.reply, "first");
    // The second tries it again, and then a late answer comes to the first.
    const tries = await Promise.all([0, 1, 0, 1].map((index) => step(index, "failed", "sent", `try ${index}`)));
    const won = tries.findIndex((answer) => answer !== undefined);
    assert.equal(tries.filter((answer) => answer !== undefined).length, 1);
    assert.equal(await step(won + 1, "ours", "failed", "late"), undefined);
    assert.equal((await pair.of(0).commands.find(device, command.id))?.reply, `try ${won % 2}`);
    assert.equal((await step(won, "ours", "sent", "taken"))?.reply, "taken");
    // What the gateway reports comes to either.
    assert.equal((await step(won + 1, "sent", "delivered", "done"))?.state, "delivered");
  });
});

const someIndex = fc.constantFrom(0 as const, 1 as const);
const someNotice = fc.nat({ max: 2 });
const someStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("claim" as const), by: someIndex, of: someNotice }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("finish" as const),
      by: someIndex,
      of: someNotice,
      outcome: fc.constantFrom(sent, failed, again),
    }),
  },
  // A claim that was not answered: nobody works on it.
  { weight: 1, arbitrary: fc.record({ type: fc.constant("forget" as const), by: someIndex, of: someNotice }) },
  { weight: 6, arbitrary: fc.record({ type: fc.constant("renew" as const), by: someIndex }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("wait" as const),
      ms: fc.constantFrom(60_000, lookMs - 1, lookMs, noticeLeaseMs),
    }),
  },
);
type Step = typeof someStep extends fc.Arbitrary<infer T> ? T : never;
/** What each process's clock shows beyond the time: nothing makes them alike. */
const clocks = [0, 1e12] as const;

/** Who works on what, and since when its claim is as it is. */
class Model {
  readonly #stores: readonly [NoticeStore, NoticeStore];
  readonly #keys: readonly number[];
  readonly #list: () => Promise<readonly Notice[]>;
  /** What each works on, by the notice: a claim that may have been taken over meanwhile. */
  readonly #work: readonly [Map<number, Claim>, Map<number, Claim>] = [new Map(), new Map()];
  /** The claim that counts. */
  readonly #holders = new Map<number, Claim>();
  readonly #renewed: [number, number] = [0, 0];
  #time: number;

  constructor(
    time: number,
    stores: readonly [NoticeStore, NoticeStore],
    keys: readonly number[],
    list: () => Promise<readonly Notice[]>,
  ) {
    this.#time = time;
    this.#stores = stores;
    this.#keys = keys;
    this.#list = list;
  }

  async begin(): Promise<void> {
    for (const by of [0, 1] as const) await this.#renew(by);
  }

  async act(step: Step): Promise<void> {
    if (step.type === "wait") this.#time += step.ms;
    else if (step.type === "renew") await this.#renew(step.by);
    else await this.#one(step, this.#keys[step.of] ?? 0);
  }

  async #one(step: Exclude<Step, { type: "wait" | "renew" }>, key: number): Promise<void> {
    const work = this.#work[step.by];
    const own = work.get(key);
    if (step.type === "forget") work.delete(key);
    // A process works on a notice once at a time.
    else if (step.type === "claim" && own === undefined) await this.#claim(step.by, key);
    else if (step.type === "finish") {
      const before = await this.#list();
      const answer = await this.#stores[step.by].finish(key, step.outcome, now);
      const holds = own !== undefined && this.#holders.get(key) === own;
      if (answer === "lost") {
        assert.ok(!holds, "a claim was lost");
        assert.deepEqual(await this.#list(), before);
      } else {
        const holder = this.#holders.get(key);
        assert.ok(holder?.by === step.by, "somebody recorded a result of another's claim");
        this.#holders.delete(key);
      }
      work.delete(key);
    }
  }

  async #claim(by: 0 | 1, key: number): Promise<void> {
    if ((await this.#stores[by].claim(key, now, undefined)) !== "claimed") return;
    assert.equal(this.#holders.get(key), undefined, "a notice has two at work");
    // It carries the lease of the last renewal, which others may have seen since then.
    const claim = { by, renewed: this.#renewed[by] };
    this.#holders.set(key, claim);
    this.#work[by].set(key, claim);
  }

  async #renew(by: 0 | 1): Promise<void> {
    const work = this.#work[by];
    await this.#stores[by].renew(clocks[by] + this.#time, [...work.keys()]);
    for (const { key, state } of await this.#list()) {
      const holder = this.#holders.get(key);
      if (holder === undefined || state === "sending") continue;
      const isWorkedOn = this.#work[holder.by].get(key) === holder;
      if (holder.by === by) assert.ok(!isWorkedOn, "a process took over what it works on");
      else assert.ok(this.#time - holder.renewed >= noticeLeaseMs, "a claim was taken over before its lease was over");
      this.#holders.delete(key);
    }
    this.#renewed[by] = this.#time;
    for (const claim of work.values()) claim.renewed = this.#time;
  }

  /** Both live on and work on nothing: all that has not ended can be claimed. Gives the time. */
  async end(): Promise<number> {
    for (const work of this.#work) work.clear();
    for (let turn = 0; turn < 6; turn++) {
      this.#time += lookMs;
      for (const by of [0, 1] as const) await this.#renew(by);
    }
    for (const { state, finishedAt } of await this.#list()) assert.ok(state === "queued" || finishedAt !== null, state);
    return this.#time;
  }
}

/** A claim of a process. */
interface Claim {
  readonly by: 0 | 1;
  /** When its owner renewed last. */
  renewed: number;
}
