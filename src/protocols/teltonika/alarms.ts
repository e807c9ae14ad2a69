import type { Alarm } from "../../model/alarms.ts";
import type { Family } from "./elements.ts";
import { isZone, professional } from "./tables.ts";

/** What the value of an event's own element means; undefined where that is nothing to be warned of (a stop, an end). */
type Rule = (value: number) => Alarm | undefined;

const on =
  (alarm: Alarm): Rule =>
  (value) =>
    value === 0 ? undefined : alarm;

const greenDriving: readonly (Alarm | undefined)[] = [undefined, "hardAcceleration", "hardBraking", "hardCornering"];

/** Eventual IO elements that both families have ("Eventual I/O elements" of the parameter tables). */
const common: { readonly [id: number]: Rule } = {
  246: on("tow"),
  // 1 and 6: a crash; 2 to 5: the trace of one already told.
  247: (value) => (value === 1 || value === 6 ? "accident" : undefined),
  249: on("jamming"),
  253: (value) => greenDriving[value],
  255: on("overspeed"),
};

const fmbRules: { readonly [id: number]: Rule } = {
  ...common,
  236: on("sos"),
  251: on("idle"),
  252: (value) => (value === 0 ? "powerRestored" : "powerCut"),
  318: on("jamming"),
  // GH5200, TMT250, TAT: power button and case.
  390: (value) => (value === 0 ? "powerOn" : "powerOff"),
  400: (value) => (value === 3 ? "sos" : undefined),
  520: on("tampering"),
};

const professionalRules: { readonly [id: number]: Rule } = { ...common, 243: on("idle"), 248: on("overspeed") };

/** The alarm that a record's event stands for: the element that caused the record, with its value in it. */
export function alarmOf(id: number, value: number, tables: Family): Alarm | undefined {
  const rule = (tables === professional ? professionalRules : fmbRules)[id];
  if (rule !== undefined) return rule(value);
  if (!isZone(id, tables)) return undefined;
  // 0 left, 1 entered, 2 over speeding ended, 3 over speeding began.
  return value === 0 ? "geofenceExit" : value === 1 ? "geofenceEnter" : value === 3 ? "overspeed" : undefined;
}
