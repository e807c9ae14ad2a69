import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type NoticePause, type PausedNotice, paused } from "./notice-pause.ts";

const minute = 60_000;

/** Tells what happens, and lets time go on until all that waits has gone out or ended. */
function tell(happened: readonly { readonly event: string; readonly minutes: number }[]) {
  const told: { readonly event: string; readonly at: number; readonly key: number }[] = [];
  let pause: NoticePause | undefined;
  const waiting: { readonly notice: PausedNotice; readonly until: number }[] = [];
  const offer = (notice: PausedNotice, now: number) => {
    const { decision, after } = paused(pause, notice, now, 2);
    pause = after;
    if (decision.outcome === "send") told.push({ event: notice.event, at: now, key: notice.key });
    if (decision.outcome === "wait") waiting.push({ notice: { ...notice, waited: true }, until: decision.until });
    return decision;
  };
  const passTo = (now: number) => {
    for (;;) {
      waiting.sort((one, other) => one.until - other.until || one.notice.key - other.notice.key);
      const [next] = waiting;
      if (next === undefined || next.until > now) return;
      waiting.shift();
      offer(next.notice, next.until);
    }
  };
  let now = 1_000_000_000;
  const decisions = happened.map(({ event, minutes }, key) => {
    now += minutes * minute;
    passTo(now);
    return offer({ key, event, time: now, waited: false }, now).outcome;
  });
  passTo(Number.MAX_SAFE_INTEGER);
  return { told, decisions };
}

const left = "raised left";
const back = "over left";

test("a message of the same too soon is none; after a while without it the interval is the first one again", () => {
  const same = [0, 1, 1.5, 1, 3.1, 60, 1].map((minutes) => ({ event: "raised", minutes }));
  assert.deepEqual(tell(same).decisions, ["send", "suppress", "send", "suppress", "send", "send", "suppress"]);
});

test("what came too soon and is so at the end of the pause is told then", () => {
  const { told, decisions } = tell([left, back, left].map((event, at) => ({ event, minutes: at === 0 ? 0 : 0.5 })));
  assert.deepEqual(decisions, ["send", "send", "wait"]);
  assert.deepEqual(
    told.map(({ event, at }) => [event, (at - 1_000_000_000) / minute]),
    [
      [left, 0],
      [back, 0.5],
      [left, 2],
    ],
  );
});

test("what came too soon and is so no longer at the end of the pause is not told", () => {
  const { told } = tell([left, back, left, back].map((event, at) => ({ event, minutes: at === 0 ? 0 : 0.4 })));
  assert.deepEqual(
    told.map(({ event }) => event),
    [left, back],
  );
});

test("an older event that is found later says nothing of what is so now", () => {
  let pause: NoticePause | undefined;
  const offer = (key: number, event: string, time: number) => {
    const { decision, after } = paused(pause, { key, event, time, waited: false }, 1_000_000_000, 2);
    pause = after;
    return decision.outcome;
  };
  assert.deepEqual([offer(1, left, 100), offer(2, back, 50), offer(3, left, 60)], ["send", "send", "suppress"]);
  assert.equal(pause?.told, left);
});

test("the last message always tells the present state, and each event has its intervals", () => {
  const story = fc.array(
    fc.record({
      event: fc.constantFrom(left, back, "raised entered"),
      minutes: fc.double({ min: 0, max: 12, noNaN: true }),
    }),
    {
      minLength: 1,
      maxLength: 40,
    },
  );
  fc.assert(
    fc.property(story, (happened) => {
      const { told } = tell(happened);
      assert.equal(told.at(-1)?.event, happened.at(-1)?.event);
      for (const event of new Set(told.map((one) => one.event))) {
        const times = told.filter((one) => one.event === event).map(({ at }) => at);
        for (const [at, time] of times.slice(1).entries()) assert.ok(time - (times[at] ?? 0) >= 2 * minute - 1);
      }
      assert.equal(new Set(told.map(({ key }) => key)).size, told.length);
    }),
    { numRuns: 500 },
  );
});

test("nobody waits longer than the interval after a clock is set back", () => {
  const day = 1440 * minute;
  const sentAt = 10 * day;
  const back = sentAt - 0.9 * day;
  const before: NoticePause = {
    told: "over",
    latest: { key: 1, time: back - minute },
    events: { raised: { sentAt, askedAt: sentAt, minutes: 1440 } },
  };
  const notice = { key: 2, event: "raised", time: back, waited: false };
  const { decision, after } = paused(before, notice, back, 2);
  assert.deepEqual(decision, { outcome: "wait", until: back + day, minutes: 1440 });
  assert.equal(paused(after, { ...notice, waited: true }, back + day, 2).decision.outcome, "send");
});
