import assert from "node:assert/strict";
import { ruleTypes } from "../../src/alerts/rules/index.ts";
import { type Alert, standingAlerts, toldBy } from "../../src/model/alert.ts";
import type { AlertRule } from "../../src/model/alert-rule.ts";
import type { ToldAlert } from "../../src/ports/alert-engine.ts";

/**
 * Types that a tracker tells by an alarm and perhaps never by its end: until it told one, an alarm that comes again is
 * another alert (`judgeAlarmOr`).
 */
const begunAnew: ReadonlySet<AlertRule["type"]> = new Set([
  "lowBattery",
  "powerDisconnected",
  "driverAuthenticationFailed",
]);

/** What an alert is about: where a rule tells moments of several kinds, they are not each other's. */
function keyOf({ type, facts: { zone, event, limit } }: Alert): string {
  const isMoment = ["controlZone", "controlPoint", "mileage", "inputAccumulated"].includes(type);
  return isMoment ? JSON.stringify([zone, event, limit]) : "";
}

/** Alerts of a rule that were not withdrawn, by what they are about, in the order of time. */
function standing(alerts: readonly Alert[], phase: "raised" | "over"): ReadonlyMap<string, readonly Alert[]> {
  const own = standingAlerts(alerts).filter((alert) => alert.phase === phase);
  const withdrawn = alerts.filter((alert) => alert.phase === "withdrawn" && toldBy(alert) === phase);
  const all = alerts.filter((alert) => alert.phase === phase);
  assert.equal(own.length, all.length - withdrawn.length, "what is withdrawn was told");
  return Map.groupBy(
    own.toSorted((one, other) => one.time - other.time),
    keyOf,
  );
}

function shown(alerts: readonly Alert[] | undefined): string {
  return (alerts ?? [])
    .map(({ time, facts }) => `${new Date(time).toISOString().slice(11, 19)} ${JSON.stringify(facts)}`)
    .join("\n");
}

/** The alerts that stand are those of a trial, one for one. */
export function compareTold(rule: Pick<AlertRule, "name">, told: readonly Alert[], tried: readonly Alert[]): void {
  for (const line of ["raised", "over"] as const) {
    const [own, wanted] = [standing(told, line), standing(tried, line)];
    for (const key of new Set([...own.keys(), ...wanted.keys()])) {
      const [alerts, episodes] = [own.get(key) ?? [], wanted.get(key) ?? []];
      const times = (list: readonly Alert[]) => list.map(({ time }) => time);
      const message = `${rule.name} ${key} ${line}\ntold:\n${shown(alerts)}\ntried:\n${shown(episodes)}`;
      assert.deepEqual(times(alerts), times(episodes), message);
    }
  }
}

/**
 * Nobody is told of an episode by an alert that is withdrawn, and again by one that stands. `told`: in the order in
 * which they were told.
 */
export function compareNotices(
  rule: Pick<AlertRule, "name" | "type">,
  told: readonly Alert[],
  tried: readonly Alert[],
  noticed: ReadonlySet<string>,
): void {
  const ends = tried.filter(({ phase }) => phase === "over");
  const stand = standing(told, "raised");
  for (const one of told) {
    if (one.phase !== "withdrawn" || toldBy(one) === "over" || ruleTypes[rule.type].momentary) continue;
    const first = told.find(({ phase, time, type }) => phase === "raised" && time === one.time && type === one.type);
    if (first === undefined || !noticed.has(first.id)) continue;
    for (const other of stand.get(keyOf(one)) ?? []) {
      // If its end was known by then, or another beginning between the two, it is another alert.
      const known = told.filter(
        ({ phase, time, raisedAt }) =>
          raisedAt <= one.raisedAt &&
          (phase === "over" || (phase === "raised" && time > other.time && time < one.time)),
      );
      const end = [...ends, ...known].reduce(
        (first, { time }) => (time >= other.time ? Math.min(first, time) : first),
        Number.POSITIVE_INFINITY,
      );
      if (other.raisedAt !== one.raisedAt || other.time > one.time || end <= one.time) continue;
      if (begunAnew.has(rule.type) && told.indexOf(other) < told.indexOf(first)) continue;
      assert.ok(!noticed.has(other.id), `${rule.name} tells twice:\n${shown([first, other])}`);
    }
  }
}

/** Checks that no alert is open that was withdrawn or is over. */
export function compareOpen(
  rule: Pick<AlertRule, "name" | "type">,
  told: readonly Alert[],
  tried: readonly Alert[],
  handling: ReadonlyMap<Alert, ToldAlert["handling"]>,
): void {
  const open = told.filter((alert) => handling.get(alert)?.state === "open");
  const stand = standing(told, "raised");
  const ends = tried.filter(({ phase }) => phase === "over");
  for (const alert of open) {
    const isTold = stand.get(keyOf(alert))?.some(({ time }) => time === alert.time);
    assert.ok(isTold, `${rule.name} is withdrawn and open:\n${shown([alert])}`);
    // An end at the same moment may be that of the alert before.
    const isOver = ends.some(({ time }) => time > alert.time);
    assert.ok(!isOver, `${rule.name} is over and open:\n${shown([alert])}`);
  }
}
