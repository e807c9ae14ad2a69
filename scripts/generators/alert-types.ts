import { ruleTypes } from "../../src/alerts/rules/index.ts";
import { alertTypes, parameterSchemas } from "../../src/contract/alert-parameters.ts";
import { alarmNames, alarmTexts } from "../../src/model/alarms.ts";
import type { AlertType } from "../../src/model/alert-rule.ts";
import { readingKinds } from "../../src/model/readings.ts";
import { placeholders } from "../../src/wording/index.ts";
import { type Generator, generatedMark, markdownTable } from "./generator.ts";

/** What each type looks for, in a reader's words. */
const meanings: { readonly [T in AlertType]: string } = {
  attributeEqual: "A reading or attribute has a value.",
  attributeGreater: "A reading or attribute is over a value.",
  attributeLess: "A reading or attribute is under a value.",
  fuelDecrease:
    "The tank's level fell by so many points within so many minutes; waves and single wrong readings are filtered.",
  fuelIncrease: "It rose by so many points within so many minutes.",
  fuelLess: "The tank's level is under the limit, in three readings in a row.",
  driverAuthenticationFailed: "The ignition has been on for so long, and no driver who may drive has identified.",
  vehicleBatteryLess: "The vehicle's voltage is under the limit.",
  sos: "Somebody pressed the tracker's button for help.",
  alarm:
    "The tracker itself warns of one of these; ignition, door, power and driver count also where only a reading tells that they changed.",
  expired: "The device expires within so many days, or has expired.",
  idling: "The engine runs, and the vehicle does not move, for so long.",
  trip: "A trip began, or ended: it has stood for so long since; both are told.",
  parkedFor: "The ignition has been off, and it has not moved, for so long.",
  drivingFor: "It has been driven for so long without a rest of so long.",
  mileage: "The mileage reaches a figure.",
  lowBattery: "The tracker says that its own battery is low, or its charge is under the limit.",
  offline: "Nothing was heard of the tracker for so long, by the service's clock.",
  rpmOver: "The engine turns faster than the limit.",
  speedLess: "It is slower than the limit.",
  notMoving: "It has not moved for so long.",
  speedOver: "It is faster than the limit.",
  vibration: "The tracker felt a vibration or a shock.",
  gpsOff: "For so long the tracker has reported without a position, or it says that its antenna is cut.",
  powerDisconnected: "The tracker was disconnected from the vehicle's power.",
  gpsNoSignal: "For so long the tracker has marked its positions as not valid.",
  inputOn: "A digital input is active.",
  inputOff: "A digital input is not active.",
  inputActiveFor: "A digital input has been active for so long without a break.",
  inputAccumulated: "Added up, a digital input has been active for so long.",
  temperatureGreater: "A probe is warmer than the limit.",
  temperatureLess: "A probe is colder than the limit.",
  allowedZone: "It has left all of the zones.",
  forbiddenZone: "It is in one of the zones, or its way between two positions led through one.",
  controlZone: "It entered or left one of the zones; both are told.",
  controlPoint: "It arrived at one of the zones and stayed for so long, or left it again; both are told.",
  route: "It strayed from all of the routes.",
};

/** On which clock time alone makes a type true. */
const clocks = { none: "", event: "the tracker's", arrival: "the service's" } as const;

/** A field of a schema as the table needs it. */
interface Field {
  readonly type?: unknown;
  readonly description?: string;
  readonly enum?: readonly unknown[];
}

function parametersOf(type: AlertType): string {
  const { properties, required = [] }: { properties: object; required?: readonly string[] | undefined } =
    parameterSchemas[type];
  const fields: readonly (readonly [string, Field])[] = Object.entries(properties);
  return fields
    .map(([name, field]) => {
      const values = field.enum === undefined ? "" : ` (${field.enum.join(", ")})`;
      const mark = required.includes(name) ? "" : "?";
      const about = field.description === undefined ? "" : `: ${field.description.replace(/\.$/, "")}`;
      return `\`${name}\`${mark}${values}${about}`;
    })
    .join("<br>");
}

function rowOf(type: AlertType): readonly string[] {
  const { clock, momentary, threshold } = ruleTypes[type];
  const lasts = momentary ? "a moment" : threshold === undefined ? "lasts" : "lasts, `rearmAt`";
  return [
    `\`${type}\``,
    meanings[type],
    parametersOf(type),
    lasts,
    clocks[clock],
    clock === "arrival" ? "not late" : "",
  ];
}

function isType(name: string): name is AlertType {
  return Object.hasOwn(meanings, name);
}

/** Every type of rule with its parameters, and the names that rules and stories use. */
export const alertTypesDoc: Generator = {
  file: "docs/generated/alert-types.md",
  render() {
    const types = alertTypes.filter(isType).map(rowOf);
    const readings = Object.entries(readingKinds).map(([name, kind]) => [`\`${name}\``, kind]);
    const alarms = alarmNames.map((name) => [`\`${name}\``, alarmTexts[name]]);
    const marks = Object.entries(placeholders).map(([name, meaning]) => [`\`{{${name}}}\``, meaning]);
    return `${generatedMark}
# Types of alert rules

A parameter with \`?\` may be left out. *Lasts*: it is true for a while and is over then; types with a threshold take \`hysteresis.rearmAt\`. *A moment*: it happens, and is never over.
*By time alone*: it becomes true without a report, on this clock. *Not late*: on this clock nothing is late.

${markdownTable(["type", "fires when", "parameters", "lasts", "by time alone", "late reports"], types)}

## Placeholders of a rule's own text

${markdownTable(["placeholder", "stands for"], marks)}

## Readings

What \`attribute\` of rules and conditions may name, beside \`speed\`, \`course\`, \`altitude\`, \`milleage\` and any attribute of a location; and what the readings of a simulated story may be.

${markdownTable(["reading", "kind"], readings)}

## Alarms

What trackers report by themselves: \`warnings\` of a location, \`alarms\` of a rule, and alarms of a simulated story.

${markdownTable(["alarm", "says"], alarms)}
`;
  },
};
