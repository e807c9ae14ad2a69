import type { Alarm } from "../../src/model/alarms.ts";
import type { AlertHysteresis, AlertRule, AlertRuleFields, AlertTrigger } from "../../src/model/alert-rule.ts";
import type { Report } from "../../src/model/effects.ts";
import type { Zone } from "../../src/model/geofence.ts";
import type { Readings } from "../../src/model/readings.ts";
import { ruleOf } from "./alert-lane.ts";

/** A Monday morning. */
export const storyBegins = Date.parse("2026-11-16T06:00:00Z");

const depot = [10, 10] as const;
/** Zones along the way that the stories' vehicle drives, 20 km to the east. */
export const storyZones: Readonly<Record<string, Zone>> = {
  depot: { kind: "circle", center: [depot[0], depot[1]], radius: 1 },
  port: { kind: "circle", center: [10.06, 10], radius: 1.2 },
  yard: { kind: "circle", center: [10.12, 10], radius: 0.8 },
  road: {
    kind: "route",
    line: [
      [9.99, 10],
      [10.2, 10],
    ],
    width: 0.6,
  },
};

/** Numbers between 0 and 1 by a seed. */
export type Random = () => number;

/** What a vehicle does for a while. */
export const acts = ["drive", "race", "stop", "idle", "gap", "drain", "fill", "noSignal", "silent", "wire"] as const;
export type Act = (typeof acts)[number];

/** A part of a story: an act and of how many reports. */
export interface Scene {
  readonly act: Act;
  readonly reports: number;
}

/** The reports of a day, in their order. */
export function storyOf(scenes: readonly Scene[], random: Random): readonly Report[] {
  const reports: Report[] = [];
  const among = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const may = (share: number) => random() < share;
  let time = storyBegins;
  let east = 10;
  let north = 10;
  let toEast = 1;
  let fuel = 70;
  let ignition = false;
  for (const { act, reports: count } of scenes) {
    if (act === "gap") time += among(5, 180) * 60_000;
    if (may(0.2)) toEast = -toEast;
    if (may(0.1)) north = 10 + (among(-4, 4) / 1000) * 2;
    for (let report = 0; report < count; report++) {
      time += may(0.03) ? 0 : among(1, 12) * 10_000;
      const moves = act === "drive" || act === "race" || act === "gap";
      ignition = moves || act === "idle" || (act === "wire" && ignition);
      const speed = moves ? among(act === "race" ? 75 : 20, act === "race" ? 130 : 85) : 0;
      east += (moves ? toEast * speed * 0.00006 : 0) + (may(0.3) ? among(-2, 2) * 0.00001 : 0);
      if (east > 10.2 || east < 9.98) toEast = -toEast;
      if (act === "drain") fuel = Math.max(0, fuel - among(1, 4));
      else if (act === "fill") fuel = Math.min(100, fuel + among(2, 9));
      else if (moves && may(0.2)) fuel = Math.max(0, fuel - 1);
      const readings: Record<string, number | boolean | string> = {};
      if (may(0.8)) readings.ignition = ignition;
      if (may(0.7)) readings.fuel = fuel;
      if (may(0.3)) readings.rpm = ignition ? among(700, 4500) : 0;
      if (may(0.2)) readings.battery = among(5, 100);
      if (may(0.2)) readings.externalVoltage = among(9, 14);
      if (may(0.3)) readings.temperature = among(-22, 12);
      if (may(0.2)) readings.temperature2 = among(-5, 30);
      if (may(0.3)) readings.input1 = may(0.5);
      if (may(0.15)) readings.input2 = may(0.5);
      if (may(0.05)) readings.powerConnected = may(0.5);
      if (may(0.05)) readings.driverId = may(0.5) ? "anna" : "bob";
      const alarms: Alarm[] = [];
      if (may(0.03)) alarms.push("sos");
      if (may(0.03)) alarms.push("vibration");
      if (may(0.03)) alarms.push("lowBattery");
      if (act === "wire" && may(0.2)) alarms.push(may(0.5) ? "powerCut" : "powerRestored");
      if (may(0.01)) alarms.push("gpsAntennaCut");
      const told: { alarms: readonly Alarm[]; readings: Readings; attributes: Readonly<Record<string, string>> } = {
        alarms,
        readings,
        attributes: may(0.2) ? { gear: may(0.5) ? "R" : "D" } : {},
      };
      if (act === "silent" || may(0.05)) {
        reports.push({ type: "readings", time, ...told });
        continue;
      }
      const [latitude, longitude] = [Math.round(north * 1e7) / 1e7, Math.round(east * 1e7) / 1e7];
      const valid = act === "noSignal" ? may(0.1) : !may(0.02);
      reports.push({ type: "fix", time, valid, latitude, longitude, speed, ...told });
    }
  }
  return reports;
}

/** How a story's reports come. */
export const ways = [
  "in order",
  "live first",
  "backlog backwards",
  "newest first",
  "shuffled packets",
  "single records",
  "parts missing",
] as const;
export type Way = (typeof ways)[number];

/** The reports of a story in the packets in which they come: each comes, and some come again. */
export function packetsOf(story: readonly Report[], way: Way, random: Random): readonly (readonly Report[])[] {
  const packets = cut(story, way === "single records" ? 1 : 20, random);
  const live = Math.floor(packets.length * random());
  const again = <T>(list: readonly T[]) => list.flatMap((one) => (random() < 0.1 ? [one, one] : [one]));
  switch (way) {
    case "in order":
      return again(packets);
    case "live first":
      return again([...packets.slice(live), ...packets.slice(0, live)]);
    case "backlog backwards":
      return again([...packets.slice(live), ...packets.slice(0, live).toReversed()]);
    case "newest first":
      return again(packets.toReversed());
    case "parts missing": {
      // A gap here and there, filled at the end.
      const missing = packets.map(() => random() < 0.3);
      return again([...packets.filter((_, at) => !missing[at]), ...packets.filter((_, at) => missing[at])]);
    }
    default:
      return again(shuffled(packets, random));
  }
}

function cut<T>(list: readonly T[], most: number, random: Random): readonly (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let at = 0; at < list.length; ) {
    const some = list.slice(at, at + 1 + Math.floor(random() * most));
    parts.push(some);
    at += some.length;
  }
  return parts;
}

function shuffled<T>(list: readonly T[], random: Random): readonly T[] {
  return list
    .map((value) => ({ value, place: random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}

type Variant = AlertTrigger &
  Partial<Omit<AlertRuleFields, "type" | "parameters" | "hysteresis">> & {
    readonly hysteresis?: Partial<AlertHysteresis>;
  };

/** Every type of rule that goes by the time of the reports, plain and with what makes it wait. */
const variants: readonly Variant[] = [
  { type: "speedOver", parameters: { kmh: 80 } },
  { type: "speedOver", parameters: { kmh: 90 }, hysteresis: { cooldownSeconds: 3600 } },
  { type: "speedOver", parameters: { kmh: 80 }, hysteresis: { holdSeconds: 120, rearmAt: 70 } },
  {
    type: "speedOver",
    parameters: { kmh: 60 },
    conditions: [{ zone: "port", operator: "inside" }],
    schedule: { days: ["monday"], from: "07:00", to: "12:00", timeZone: "UTC" },
  },
  {
    type: "speedLess",
    parameters: { kmh: 10 },
    conditions: [{ attribute: "ignition", operator: "equal", value: true }],
  },
  { type: "notMoving", parameters: { minutes: 10 } },
  { type: "notMoving", parameters: { minutes: 5 }, hysteresis: { cooldownSeconds: 7200 } },
  { type: "idling", parameters: { minutes: 6 } },
  { type: "mileage", parameters: { km: 3, repeat: true } },
  { type: "mileage", parameters: { km: 7, repeat: false } },
  { type: "allowedZone", parameters: { zones: ["depot", "port"] } },
  { type: "forbiddenZone", parameters: { zones: ["port", "yard"] } },
  { type: "forbiddenZone", parameters: { zones: ["port"] }, hysteresis: { holdSeconds: 90 } },
  { type: "controlZone", parameters: { zones: ["depot", "port", "yard"] } },
  { type: "controlZone", parameters: { zones: ["port"] }, hysteresis: { cooldownSeconds: 1800 } },
  { type: "controlPoint", parameters: { zones: ["port", "yard"], minutes: 0 } },
  { type: "controlPoint", parameters: { zones: ["port", "depot"], minutes: 5 } },
  { type: "route", parameters: { zones: ["road"] } },
  { type: "fuelDecrease", parameters: { tank: 1, points: 10, minutes: 20 } },
  { type: "fuelIncrease", parameters: { tank: 1, points: 10, minutes: 30 } },
  { type: "fuelLess", parameters: { tank: 1, percent: 20 } },
  { type: "rpmOver", parameters: { rpm: 3000 } },
  { type: "lowBattery", parameters: { percent: 20 } },
  { type: "powerDisconnected", parameters: {} },
  { type: "gpsOff", parameters: { minutes: 5 } },
  { type: "gpsNoSignal", parameters: { minutes: 5 } },
  { type: "sos", parameters: {} },
  { type: "vibration", parameters: {}, hysteresis: { cooldownSeconds: 900 } },
  { type: "vehicleBatteryLess", parameters: { volts: 11 } },
  { type: "driverAuthenticationFailed", parameters: { drivers: ["anna"], seconds: 60 } },
  { type: "inputOn", parameters: { input: 1 } },
  { type: "inputOff", parameters: { input: 2 } },
  { type: "inputActiveFor", parameters: { input: 1, minutes: 5 } },
  { type: "inputAccumulated", parameters: { input: 1, minutes: 20, repeat: true } },
  { type: "temperatureGreater", parameters: { probe: 1, celsius: 8 }, hysteresis: { holdSeconds: 60 } },
  { type: "temperatureLess", parameters: { probe: 2, celsius: 0 } },
  { type: "attributeEqual", parameters: { attribute: "gear", value: "R" } },
  { type: "attributeGreater", parameters: { attribute: "battery", value: 90 } },
  { type: "attributeLess", parameters: { attribute: "fuel", value: 30 } },
];

/** The rules that stories are told to. Each tells one program, and of its ends too. */
export const storyRules: readonly AlertRule[] = variants.map(({ hysteresis, ...variant }, at) =>
  ruleOf(
    {
      ...variant,
      name: `${variant.type} ${at + 1}`,
      hysteresis: { holdSeconds: 0, rearmAt: null, cooldownSeconds: 0, ...hysteresis },
      channels: { email: [], sms: [], webhook: [{ url: "http://localhost/", secret: "0123456789abcdef" }] },
    },
    at + 1,
  ),
);
