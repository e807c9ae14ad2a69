import assert from "node:assert/strict";
import { test } from "node:test";
import type { AlertFacts, AlertPhase } from "../model/alert.ts";
import { noTotals } from "../model/location.ts";
import type { ToldAlert } from "../ports/alert-engine.ts";
import { type Correction, compared, type Episode, type FoundAt, type ToldRule } from "./told.ts";

const goesOn = Number.POSITIVE_INFINITY;

function foundAt(time: number, facts: AlertFacts = {}): FoundAt {
  return { time, observation: undefined, totals: noTotals, facts };
}

function moment(time: number, facts?: AlertFacts): Episode {
  return { rule: 0, began: foundAt(time, facts), over: undefined, end: time };
}

function lasting(from: number, to: number): Episode {
  return { ...moment(from), over: to === goesOn ? undefined : foundAt(to), end: to };
}

/** An alert; `endedAt`: null is of a moment, or goes on. */
function told(time: number, endedAt: number | null = null, facts: AlertFacts = {}, phase: AlertPhase = "raised") {
  return { time, facts, phase, handling: { state: "open", endedAt } } as ToldAlert;
}

function rule(momentary: boolean, zoneNames: readonly string[] = [], notifyWhenOver = true): ToldRule["rule"] {
  return { momentary, zoneNames, rule: { notifyWhenOver, notifyOnlyWhenOver: false } } as ToldRule["rule"];
}

const moments = rule(true);
const lasts = rule(false);

/** Times of what becomes of the episodes and alerts of a rule. `known`, `silent`: what is added and tells nobody. */
function verdict(
  compiled: ToldRule["rule"],
  episodes: readonly Episode[],
  alerts: readonly ToldAlert[],
  until = goesOn,
): Readonly<Record<"untold" | "known" | "over" | "silent" | "withdrawn", readonly number[]>> {
  const corrections = compared(episodes, { rule: compiled, alerts, until, isKnown: () => true });
  const times = (wanted: (one: Correction) => boolean) => corrections.filter(wanted).map(({ at }) => at.time);
  return {
    untold: times((one) => one.do === "raise" && !one.told),
    known: times((one) => one.do === "raise" && one.told),
    over: times((one) => one.do === "end" && !one.told),
    silent: times((one) => one.do === "end" && one.told),
    withdrawn: times((one) => one.do === "withdraw"),
  };
}

const none = { untold: [], known: [], over: [], silent: [], withdrawn: [] };

test("a late moment between two told ones is told", () => {
  const sos = [moment(10), moment(15), moment(20)];
  assert.deepEqual(verdict(moments, sos, [told(10), told(20)]), { ...none, untold: [15] });
});

test("a late alarm between two other alarms of the rule is told", () => {
  const [tow, crash] = [{ alarm: "tow" }, { alarm: "crash" }];
  const alarms = [moment(10, tow), moment(15, crash), moment(20, tow)];
  assert.deepEqual(verdict(moments, alarms, [told(10, null, tow), told(20, null, tow)]), { ...none, untold: [15] });
  assert.deepEqual(verdict(moments, [moment(10, crash), moment(10, tow)], [told(10, null, tow)]), {
    ...none,
    untold: [10],
  });
});

test("a moment that turns out to lie earlier is another moment", () => {
  assert.deepEqual(verdict(moments, [moment(5)], [told(10)]), { ...none, untold: [5], withdrawn: [10] });
});

test("a moment that was told and withdrawn is not told again", () => {
  const alerts = [told(10), told(10, null, {}, "withdrawn")];
  assert.deepEqual(verdict(moments, [moment(10)], alerts), { ...none, known: [10] });
  assert.deepEqual(verdict(moments, [], alerts), none);
});

test("a sum reaches a figure once, whenever that is", () => {
  const hundred = { limit: 100 };
  assert.deepEqual(verdict(moments, [moment(5, hundred)], [told(10, null, hundred)]), {
    ...none,
    known: [5],
    withdrawn: [10],
  });
});

test("a moment of a zone is the same under the zone's new name", () => {
  const harbour = rule(true, ["harbour"]);
  const entered = (zone: string) => ({ zone, event: "entered" });
  assert.deepEqual(verdict(harbour, [moment(10, entered("harbour"))], [told(10, null, entered("port"))]), none);
  assert.deepEqual(verdict(rule(true, ["harbour", "port"]), [moment(10, entered("harbour"))], []), {
    ...none,
    untold: [10],
  });
});

test("an episode is told unless something was told that overlaps it", () => {
  const alerts = [told(10, 20)];
  assert.deepEqual(
    verdict(lasts, [lasting(5, 9), lasting(10, 20), lasting(21, 25)], [...alerts, told(20, null, {}, "over")]),
    {
      ...none,
      untold: [5, 21],
      over: [9, 25],
    },
  );
  // The episode began earlier than was known, or later.
  const ended = [...alerts, told(20, null, {}, "over")];
  assert.deepEqual(verdict(lasts, [lasting(5, 20)], ended), { ...none, known: [5], withdrawn: [10] });
  assert.deepEqual(verdict(lasts, [lasting(15, goesOn)], [told(10)]), { ...none, known: [15], withdrawn: [10] });
});

test("an alert tells of the minutes before it that it names", () => {
  const minute = 60_000;
  const drain = { ...lasting(20 * minute, 21 * minute), over: undefined };
  const alerts = [told(37 * minute, 38 * minute, { minutes: 32 })];
  assert.deepEqual(verdict(lasts, [drain], alerts), { ...none, known: [20 * minute], withdrawn: [37 * minute] });
});

test("an episode that a late record splits was told as one; its end is told when the last part ends", () => {
  assert.deepEqual(verdict(lasts, [lasting(10, 12), lasting(15, goesOn)], [told(10)]), {
    ...none,
    known: [15],
    silent: [12],
  });
  assert.deepEqual(verdict(lasts, [lasting(10, 12)], [told(10)], 20), { ...none, over: [12] });
});

test("an end that was told too early or too late is withdrawn, and people are not told another one", () => {
  const alerts = [told(10, 20), told(20, null, { lastedMinutes: 10 }, "over")];
  for (const end of [15, 30])
    assert.deepEqual(verdict(lasts, [lasting(10, end)], alerts), { ...none, silent: [end], withdrawn: [20] });
  const withdrawn = told(20, null, { lastedMinutes: 10 }, "withdrawn");
  const flash = [told(20, 20), told(20, null, { lastedMinutes: 10 }, "over"), withdrawn];
  assert.deepEqual(verdict(lasts, [lasting(20, goesOn)], flash), none);
});

test("what was never so is withdrawn", () => {
  assert.deepEqual(verdict(lasts, [], [told(10, 20)]), { ...none, withdrawn: [10] });
});

test("nothing is said of times that the fold does not know", () => {
  const isKnown = (time: number) => time > 15;
  const [alerts, until] = [[told(10, 12)], goesOn];
  assert.deepEqual(compared([lasting(5, 9)], { rule: lasts, alerts, until, isKnown }), []);
});

test("an alert without an end lasted until the next one", () => {
  const alerts = [told(10), told(30)];
  assert.deepEqual(verdict(lasts, [lasting(10, 12), lasting(40, goesOn)], alerts, 35), {
    ...none,
    untold: [40],
    over: [12],
    withdrawn: [30],
  });
});

test("each alert is looked at a few times, however many there are", () => {
  const count = 2000;
  for (const compiled of [moments, lasts]) {
    let looks = 0;
    const counted = (at: number) => ({
      ...told(at, at + 1),
      get time() {
        looks++;
        return at;
      },
    });
    const places = Array.from({ length: count }, (_, index) => index * 10);
    const episodes = places.map((at) => (compiled === moments ? moment(at) : lasting(at, at + 2)));
    const { untold } = verdict(
      compiled,
      episodes,
      places.map((at) => counted(at + 5)),
    );
    assert.equal(untold.length, count);
    assert.ok(looks < 50 * count, `${looks / count} looks at each alert`);
  }
});
