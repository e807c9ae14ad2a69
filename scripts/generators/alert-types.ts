import { ruleTypes } from "../../src/alerts/rules/index.ts";
import { alertTypes, parameterSchemas } from "../../src/contract/alert-parameters.ts";
import { alarmNames, alarmTexts } from "../../src/model/alarms.ts";
import type { AlertType } from "../../src/model/alert-rule.ts";
import { placeholders } from "../../src/wording/index.ts";
import { type Generator, generatedMark, markdownTable } from "./generator.ts";

/** What each type looks for, in a reader's words. */
const meanings: { readonly [T in AlertType]: string } = {
  attributeEqual: "A reading or attribute has a value.",
  attributeGreater: "A reading or attribute is over a value.",
  attributeLess: "A reading or attribute is under a value.",
  fuelDecrease:
    "The tank's level fell by this amount within these minutes. Waves and single wrong readings are filtered out.",
  fuelIncrease: "The tank's level rose by this amount within these minutes.",
  fuelLess: "The tank's level is under the limit in three readings in a row.",
  driverAuthenticationFailed: "The ignition has been on for this time, and no driver who may drive has identified.",
  vehicleBatteryLess: "The vehicle's voltage is under the limit.",
  sos: "Somebody pressed the tracker's button for help.",
  alarm:
    "The tracker itself reports one of these alarms. Those of ignition, door, power and driver also count if only a reading shows the change.",
  expired: "The device expires within these days, or has expired.",
  idling: "The engine has been running for this time without the vehicle moving.",
  trip: "A trip began or ended. It ends when the vehicle has stood for this time. Each is an alert.",
  parkedFor: "The ignition has been off for this time, and the vehicle has not moved.",
  drivingFor: "The vehicle has been driven for this time without a rest.",
  mileage: "The mileage reaches a figure.",
  lowBattery: "The tracker says that its own battery is low, or its charge is under the limit.",
  offline: "The service has heard nothing of the tracker for this time.",
  rpmOver: "The engine turns faster than the limit.",
  speedLess: "The vehicle is slower than the limit.",
  notMoving: "The vehicle has not moved for this time.",
  speedOver: "The vehicle is faster than the limit.",
  vibration: "The tracker felt a vibration or a shock.",
  gpsOff: "The tracker has reported without a position for this time, or says that its antenna is cut.",
  powerDisconnected: "The tracker was disconnected from the vehicle's power.",
  gpsNoSignal: "The tracker has marked its positions as not valid for this time.",
  inputOn: "A digital input is active.",
  inputOff: "A digital input is not active.",
  inputActiveFor: "A digital input has been active for this time without a break.",
  inputAccumulated: "The active times of a digital input add up to this time.",
  temperatureGreater: "A probe is warmer than the limit.",
  temperatureLess: "A probe is colder than the limit.",
  allowedZone: "The vehicle is in none of the zones.",
  forbiddenZone: "The vehicle is in one of the zones, or crossed one between two positions.",
  controlZone: "The vehicle entered or left one of the zones. Each is an alert.",
  controlPoint: "The vehicle arrived at one of the zones and stayed for this time, or left it again. Each is an alert.",
  route: "The vehicle is on none of the routes.",
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
    const alarms = alarmNames.map((name) => [`\`${name}\``, alarmTexts[name]]);
    const marks = Object.entries(placeholders).map(([name, meaning]) => [`\`{{${name}}}\``, meaning]);
    return `${generatedMark}
# Types of alert rules

A parameter with \`?\` may be left out. *Lasts*: it is true for a while and over then. Types with a threshold take \`hysteresis.rearmAt\`. *A moment*: it happens, and is never over.
*By time alone*: it can become true without a report, by this clock. *Not late*: by the service's clock, nothing is late.

${markdownTable(["type", "raises an alert when", "parameters", "lasts", "by time alone", "late reports"], types)}

## Placeholders of a rule's own text

${markdownTable(["placeholder", "stands for"], marks)}

## Readings

\`attribute\` of rules and conditions may name a [reading](readings.md), \`speed\`, \`course\`, \`altitude\`, \`milleage\`, and any attribute of a location.

## Alarms

Trackers report these by themselves. They are the \`warnings\` of a location, the \`alarms\` of a rule, and the alarms of a simulated story.

${markdownTable(["alarm", "says"], alarms)}
`;
  },
};
