import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Notice } from "../model/notice.ts";
import { Targets } from "./targets.ts";

function notice(key: number, target: number): Notice {
  return {
    key,
    account: 1,
    id: `n${key}`,
    alertId: "a",
    device: target,
    target: { channel: "webhook", url: "", secret: "" },
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

const options = {
  parallel: 6,
  perTarget: 3,
  perFailing: 1,
  targetOf: ({ device }: Notice) => String(device),
  groups: { groupOf: ({ device }: Notice) => String(device % 2), most: 4 },
};

const someStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("add" as const), target: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.constant({ type: "take" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("done" as const),
      at: fc.nat(),
      works: fc.option(fc.boolean(), { nil: undefined }),
      pauseMs: fc.option(fc.nat(5), { nil: undefined }),
    }),
  },
);

describe("targets", () => {
  it("that asked for a pause do not wait longer if the clock is set back", () => {
    const targets = new Targets({ parallel: 1, perTarget: 1, perFailing: 1 });
    const hour = 3_600_000;
    const [first, second] = [notice(1, 1), notice(2, 1)];
    for (const one of [first, second]) assert.equal(targets.add(one, hour), undefined);
    assert.equal(targets.take(hour), first);
    targets.done(first, { works: true, pauseMs: 60_000 }, hour);
    assert.equal(targets.take(hour + 59_999), undefined);
    assert.equal(targets.take(0), second);
    targets.done(second, { works: true, pauseMs: 60_000 }, 0);
    targets.add(first, 0);
    assert.equal(targets.take(59_999), undefined);
    assert.equal(targets.take(60_000), first);
  });

  it("lose no notice, whatever happens, and none has more under way than it may", () => {
    fc.assert(
      fc.property(fc.array(someStep, { maxLength: 300 }), (steps) => {
        const targets = new Targets(options);
        const waiting = new Set<number>();
        const running: Notice[] = [];
        const failing = new Set<number>();
        steps.forEach((step, now) => {
          if (step.type === "add") {
            if (targets.add(notice(now, step.target), now) === undefined) waiting.add(now);
          } else if (step.type === "take") {
            const taken = targets.take(1e6);
            if (taken === undefined) return;
            assert.ok(waiting.delete(taken.key));
            running.push(taken);
            if (failing.has(taken.device))
              assert.equal(running.filter(({ device }) => device === taken.device).length, 1);
          } else {
            const [ended] = running.splice(step.at % Math.max(1, running.length), 1);
            if (ended === undefined) return;
            const { works, pauseMs } = step;
            const { back, until } = targets.done(
              ended,
              { ...(works !== undefined && { works }), ...(pauseMs !== undefined && { pauseMs }) },
              now,
            );
            if (works !== undefined) failing[works ? "delete" : "add"](ended.device);
            for (const { key } of back) assert.ok(waiting.delete(key) && until > now);
          }
          assert.equal(targets.waiting, waiting.size);
          assert.ok(running.length <= 6);
          for (const group of [0, 1]) assert.ok(running.filter(({ device }) => device % 2 === group).length <= 4);
          for (let target = 0; target < 10; target++)
            assert.ok(running.filter(({ device }) => device === target).length <= 3);
        });
        // Whoever waits has its turn, if what is under way ends well.
        for (const one of running)
          for (const { key } of targets.done(one, { works: true }, 1e6).back) waiting.delete(key);
        for (let next = targets.take(1e6); next !== undefined; next = targets.take(1e6)) {
          assert.ok(waiting.delete(next.key));
          targets.done(next, { works: true }, 1e6);
        }
        assert.equal(waiting.size, 0);
      }),
    );
  });

  it("that failed have half of the lane, so those that work have their turn", () => {
    const targets = new Targets({ ...options, groups: { groupOf: ({ device }) => String(device), most: 9 } });
    for (let target = 0; target < 20; target++) {
      targets.add(notice(target, target), 0);
      const taken = targets.take(1e6);
      assert.ok(taken !== undefined);
      targets.done(taken, { works: false }, 0);
    }
    for (let target = 0; target < 20; target++) targets.add(notice(100 + target, target), 0);
    for (let index = 0; index < 9; index++) targets.add(notice(200 + index, 100), 0);
    const begun: number[] = [];
    for (let next = targets.take(1e6); next !== undefined; next = targets.take(1e6)) begun.push(next.key);
    assert.deepEqual(begun, [100, 101, 102, 200, 201, 202]);
  });

  it("hold few notices of one that failed, and none of one that is to be left alone", () => {
    const targets = new Targets(options);
    const held = () =>
      Array.from({ length: 300 }, (_, index) => targets.add(notice(1000 + index, 2), 10)).filter(
        (until) => until === undefined,
      ).length;
    assert.equal(held(), 200);
    const first = targets.take(1e6);
    assert.ok(first !== undefined);
    const failed = targets.done(first, { works: false }, 10);
    assert.equal(failed.back.length, 199 - 8);
    const second = targets.take(1e6);
    assert.ok(second !== undefined);
    const asked = targets.done(second, { works: false, pauseMs: 50_000 }, 10);
    assert.deepEqual([asked.back.length, asked.until, targets.waiting], [7, 50_010, 0]);
    assert.equal(targets.add(notice(1, 2), 50_009), 50_010);
    assert.equal(targets.add(notice(1, 2), 50_010), undefined);
  });

  it("of which many work slowly hold a bounded number, and another one still has its turn", () => {
    const targets = new Targets({ ...options, groups: { groupOf: ({ device }) => String(device), most: 4 } });
    for (let index = 0; index < 200_000; index++) targets.add(notice(index, index % 1000), 0);
    assert.ok(targets.waiting <= 13_000, `${targets.waiting} wait`);
    assert.equal(targets.add(notice(1e6, 1e6), 0), undefined);
  });

  /**
   * A target with 10,000 notices takes `aSecond` notices each second. Returns how often notices were looked at, and the
   * seconds until the target took all of them.
   */
  function drain(
    aSecond: number,
    works: boolean,
    pauseMs?: number,
  ): { readonly looks: number; readonly seconds: number } {
    const targets = new Targets(options);
    const dueAt = new Map(Array.from({ length: 10_000 }, (_, key) => [key, 0]));
    let looks = 0;
    for (let second = 0; second < 600; second++) {
      const now = second * 1000;
      const due = [...dueAt].filter(([, at]) => at <= now).sort((a, b) => a[1] - b[1] || a[0] - b[0]);
      for (const [key] of due) {
        const until = targets.add(notice(key, 1), now);
        looks++;
        if (until === undefined) dueAt.delete(key);
        else dueAt.set(key, until);
      }
      for (let left = aSecond; left > 0; left--) {
        const taken = targets.take(1e6);
        if (taken === undefined) break;
        const { back, until } = targets.done(taken, { works, ...(pauseMs !== undefined && { pauseMs }) }, now);
        for (const { key } of back) dueAt.set(key, until);
      }
      if (dueAt.size === 0 && targets.waiting === 0) return { looks, seconds: second };
    }
    return { looks, seconds: Number.POSITIVE_INFINITY };
  }

  it("with a long queue look at it rarely, and one that works has it as soon as it can take it", () => {
    for (const aSecond of [40, 150]) {
      const { looks, seconds } = drain(aSecond, true);
      assert.ok(seconds < 1.3 * (10_000 / aSecond), `${seconds} s`);
      assert.ok(looks < 80_000, `${looks} looks of one that works`);
    }
    for (const pauseMs of [undefined, 1000]) {
      const { looks } = drain(1, false, pauseMs);
      assert.ok(looks < 80_000, `${looks} looks of one that fails and asks for ${pauseMs} ms`);
    }
  });
});
