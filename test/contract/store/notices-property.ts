import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Notice } from "../../../src/model/notice.ts";
import type { NoticeOutcome } from "../../../src/ports/alert-store.ts";
import type { Store } from "../../../src/ports/store.ts";
import { runs } from "../../support/runs.ts";
import { email, makeNotice, sms, webhook } from "./alert-values.ts";
import { makeAccount, makeDevice, now } from "./harness.ts";

const days = ["2026-11-20", "2026-11-21"] as const;
const someTime = fc.integer({ min: now, max: now + 100 });
const someOutcome: fc.Arbitrary<NoticeOutcome> = fc.record(
  {
    state: fc.constantFrom("sent" as const, "failed" as const, "suppressed" as const, "queued" as const),
    reason: fc.option(fc.string({ unit: "grapheme", maxLength: 5 })),
    peerId: fc.option(fc.string({ unit: "grapheme", maxLength: 5 })),
    dueAt: someTime,
    untried: fc.constant(true as const),
  },
  { noNullPrototype: true, requiredKeys: ["state", "reason", "peerId", "dueAt"] },
);
const someAction = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("make" as const), target: fc.constantFrom(email, sms, webhook) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("claim" as const),
      at: fc.nat(),
      day: fc.constantFrom(...days),
      limit: fc.integer({ min: 0, max: 3 }),
      count: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("finish" as const),
      at: fc.nat(),
      outcome: someOutcome,
      now: someTime,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("resend" as const), at: fc.nat(), now: someTime }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("postpone" as const), at: fc.nat(), now: someTime }) },
  { weight: 1, arbitrary: fc.constant({ type: "renew" as const }) },
);
type Action = typeof someAction extends fc.Arbitrary<infer T> ? T : never;

/**
 * The plainest model of one device's outbox: the notices as they must be, and how many places of each day are taken.
 */
class OutboxModel {
  readonly device: number;
  readonly notices: Notice[] = [];
  readonly taken = new Map<string, number>();
  /** Places that each notice holds, by its key. */
  readonly places = new Map<number, number>();

  constructor(device: number) {
    this.device = device;
  }

  async act(store: Store, action: Action): Promise<void> {
    if (action.type === "make") {
      this.notices.push(await makeNotice(store, this.device, { target: action.target }));
    } else if (action.type === "renew") {
      const underWay = this.notices.filter(({ state }) => state === "sending").map(({ key }) => key);
      await store.notices.renew(now, underWay);
    } else await this.#one(store, action);
  }

  async #one(store: Store, action: Exclude<Action, { type: "make" | "renew" }>): Promise<void> {
    const notice = this.notices[action.at % Math.max(1, this.notices.length)];
    if (notice === undefined) return;
    if (action.type === "claim") {
      const { day, limit, count } = action;
      const claimed = await store.notices.claim(notice.key, now, { day, limit, count });
      assert.equal(claimed, this.#claim(notice, day, limit, count));
    } else if (action.type === "finish") {
      const recorded = await store.notices.finish(notice.key, action.outcome, action.now);
      assert.equal(recorded, notice.state === "sending" ? "recorded" : "lost");
      this.#finish(notice, action.outcome, action.now);
    } else if (action.type === "postpone") {
      await store.notices.postpone([notice.key], action.now);
      if (notice.state === "queued") this.#set(notice, { dueAt: action.now });
    } else {
      const final = notice.finishedAt !== null;
      if (final)
        this.#set(notice, {
          ...{ state: "queued", reason: null, dueAt: action.now, attempts: 0, finishedAt: null, countedDay: null },
        });
      const resent = await store.notices.resend(notice.key, action.now, 1000);
      assert.deepEqual(resent, final ? this.#now(notice) : "open");
    }
  }

  /** All claims were of a run that has ended. */
  async restarted(store: Store): Promise<void> {
    await store.notices.takeUp();
    for (const notice of this.notices) if (notice.state === "sending") this.#set(notice, { state: "queued" });
  }

  #claim(notice: Notice, day: string, limit: number, count: number): "claimed" | "limit" | "gone" {
    if (notice.state !== "queued") return "gone";
    const counts = notice.target.channel !== "webhook";
    if (counts && (notice.countedDay !== day || this.places.get(notice.key) !== count)) {
      this.#giveBack(notice);
      const key = notice.target.channel + day;
      const taken = this.taken.get(key) ?? 0;
      if (taken + count > limit) {
        const reason = notice.target.channel === "sms" ? "daily SMS limit reached" : "daily e-mail limit reached";
        this.#set(notice, { state: "suppressed", reason, finishedAt: now, countedDay: null });
        return "limit";
      }
      this.taken.set(key, taken + count);
      this.places.set(notice.key, count);
    }
    this.#set(notice, {
      state: "sending",
      attempts: notice.attempts + 1,
      countedDay: counts ? day : notice.countedDay,
    });
    return "claimed";
  }

  #finish(notice: Notice, { state, reason, peerId, dueAt, untried }: NoticeOutcome, at: number): void {
    if (notice.state !== "sending") return;
    const over = state === "failed" || state === "suppressed";
    if (over) this.#giveBack(notice);
    this.#set(notice, {
      ...{ state, reason, peerId },
      ...(state === "queued" ? { dueAt } : { finishedAt: at }),
      ...(over && { countedDay: null }),
      attempts: notice.attempts - (untried ? 1 : 0),
    });
  }

  #giveBack({ key: own, target, countedDay }: Notice): void {
    if (countedDay === null) return;
    const key = target.channel + countedDay;
    this.taken.set(key, (this.taken.get(key) ?? 0) - (this.places.get(own) ?? 0));
  }

  #set(notice: Notice, changes: Partial<Notice>): void {
    this.notices[this.notices.findIndex(({ key }) => key === notice.key)] = { ...notice, ...changes };
  }

  #now(notice: Notice): Notice | undefined {
    return this.notices.find(({ key }) => key === notice.key);
  }

  async check(store: Store): Promise<void> {
    assert.deepEqual(await store.notices.list(this.device, { limit: 1000 }), this.notices.toReversed());
    for (const day of days) {
      const taken = { sms: this.taken.get(`sms${day}`) ?? 0, email: this.taken.get(`email${day}`) ?? 0 };
      assert.deepEqual(await store.daily.sent(this.device, day), taken);
    }
    const waiting = this.notices.filter(({ state }) => state === "queued").toSorted((a, b) => a.dueAt - b.dueAt);
    for (const channel of ["email", "sms", "webhook"] as const) {
      const due = (await store.notices.due(channel, now + 1000, { limit: 10_000 })).notices;
      const own = waiting.filter(({ target }) => target.channel === channel).map(({ dueAt }) => dueAt);
      assert.deepEqual(
        due.filter(({ device }) => device === this.device).map(({ dueAt }) => dueAt),
        own,
      );
    }
  }
}

/** Random steps of an outbox against the plainest model, with restarts in between. */
export function noticePropertyContract(store: () => Store, reopen: () => Promise<void>): void {
  describe("any steps of notices", () => {
    it("leave each in the state that they say, and as many places taken as are held or were used", async () => {
      const account = await makeAccount(store(), 1_000_000);
      await fc.assert(
        fc.asyncProperty(fc.array(someAction, { maxLength: 25 }), fc.boolean(), async (actions, restart) => {
          const model = new OutboxModel((await makeDevice(store(), account.key)).key);
          for (const action of actions) await model.act(store(), action);
          await model.check(store());
          if (restart) {
            await reopen();
            await model.restarted(store());
            await model.check(store());
          }
          await store().devices.remove(model.device);
        }),
        { numRuns: runs(30), interruptAfterTimeLimit: 60_000, markInterruptAsFailure: false },
      );
    });
  });
}
