import type { Alarm } from "../../model/alarms.ts";
import type { Effect } from "../../model/effects.ts";
import type { FlagReading, NumberReading } from "../../model/readings.ts";
import { altitudeOf, attributeName, courseOf, speedOf } from "../../wire/app-report.ts";
import { attributesOf, isGiven, isObject, type JsonObject, numeric, objectOf, textOf, truth } from "../../wire/json.ts";
import { cellsText, wifiText } from "../../wire/radio.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf, readingsOrNothing } from "../../wire/report.ts";

/**
 * Elements that are numbers of the catalogue, in its units; those from `odometer` on are of trackers behind qtripp.
 * (JSON, Queclink)
 */
const numbers: readonly (readonly [element: string, reading: NumberReading])[] = [
  ["acc", "accuracy"],
  ["p", "airPressure"],
  ["odometer", "odometer"],
  ["hmc", "engineSeconds"],
  ["ubatt", "batteryVoltage"],
  ["uext", "externalVoltage"],
  ["aiv", "analog1"],
  ["rpm", "rpm"],
  ["fcon", "fuelConsumption"],
  ["flvl", "fuel"],
];

const flags: readonly (readonly [element: string, reading: FlagReading])[] = [
  ["ign", "ignition"],
  ["motion", "motion"],
  ["din1", "input1"],
  ["din2", "input2"],
  ["dout1", "output1"],
  ["dout2", "output2"],
];

/** Triggers of a location that are alarms. (JSON, Queclink; of the Greenwich: f, l, L) */
const alarms: ReadonlyMap<string, Alarm> = new Map<string, Alarm>([
  ["!", "tow"],
  ["e", "powerCut"],
  ["E", "powerRestored"],
  ["1", "powerOn"],
  ["9", "lowBattery"],
  ["s", "overspeed"],
  ["f", "powerOn"],
  ["l", "gpsLost"],
  ["L", "powerOff"],
]);

/** What a harsh behaviour was, by the record type `rty`: 0 to 2 at low, 3 to 5 at high speed. (Queclink, GTHBM) */
const harsh: readonly Alarm[] = [
  "hardBraking",
  "hardAcceleration",
  "hardCornering",
  "hardBraking",
  "hardAcceleration",
  "hardCornering",
];

const crossings: ReadonlyMap<string, Alarm> = new Map<string, Alarm>([
  ["enter", "geofenceEnter"],
  ["leave", "geofenceExit"],
]);

/** Elements that say nothing of the device's state: who it is, and the numbers of messages. */
const unstored: readonly string[] = ["_type", "topic", "_id", "count"];

/** The elements of a message; what is not taken are attributes. */
class Elements {
  readonly #message: JsonObject;
  readonly #taken = new Set(unstored);

  constructor(message: JsonObject) {
    this.#message = message;
  }

  /** The element where it can be read; else it stays. */
  take<T>(name: string, parse: (value: unknown) => T | undefined): T | undefined {
    const value = this.#message[name];
    const parsed = isGiven(value) && !this.#taken.has(name) ? parse(value) : undefined;
    if (parsed !== undefined) this.#taken.add(name);
    return parsed;
  }

  /** Seconds since 1970 in an element as epoch ms; undefined: it is not there; NaN: it can't be read. */
  time(name: string): number | undefined {
    if (!isGiven(this.#message[name])) return undefined;
    const time = Math.round((this.take(name, numeric) ?? Number.NaN) * 1000);
    return Number.isSafeInteger(time) ? time : Number.NaN;
  }

  /** The report with what is left as attributes. */
  rest({ alarms, readings, attributes }: Draft): Draft {
    const left = Object.entries(this.#message).filter(([name]) => !this.#taken.has(name));
    return { alarms, readings, attributes: { ...attributesOf(left), ...attributes } };
  }
}

/** A location, or a transition into or out of a place that the app watches. (JSON, _type=location, _type=transition) */
export function readLocation(message: JsonObject, receivedAt: number): Effect | undefined {
  const elements = new Elements(message);
  const report = draft();
  const time = elements.time("tst") ?? receivedAt;
  const latitude = elements.take("lat", numeric);
  const longitude = elements.take("lon", numeric);
  const given = isGiven(message.lat) || isGiven(message.lon);
  if (Number.isNaN(time) || (given && (latitude === undefined || longitude === undefined))) return undefined;
  const altitude = elements.take("alt", (value) => altitudeOf(numeric(value) ?? Number.NaN));
  const speed = elements.take("vel", (value) => speedOf(numeric(value) ?? Number.NaN));
  const course = elements.take("cog", (value) => courseOf(numeric(value) ?? Number.NaN));
  readReadings(elements, report);
  readBattery(message, elements, report);
  readEvent(message, elements, report);
  readRadio(elements, report);
  const whole = elements.rest(report);
  if (latitude === undefined || longitude === undefined)
    return readingsOrNothing(whole, "neither position nor readings", time);
  return fixOf({ time, valid: true, latitude, longitude, altitude, speed, course }, whole);
}

function readReadings(elements: Elements, report: Draft): void {
  for (const [element, reading] of numbers)
    put(report, reading, elements.take(element, numeric), attributeName(element));
  for (const [element, reading] of flags) {
    const value = elements.take(element, truth);
    if (value !== undefined) report.readings[reading] = value;
  }
  const vin = elements.take("vin", textOf);
  if (vin !== undefined && vin !== "") report.readings.vin = vin;
  for (const probe of [1, 2, 3, 4] as const)
    for (const element of [`temp_c-${probe}`, `temp_c-0${probe}`])
      put(report, probe === 1 ? "temperature" : `temperature${probe}`, elements.take(element, numeric), element);
}

/**
 * `batt` is a phone's level; of the Greenwich, which alone counts a trip, it is the vehicle's voltage. `bs`: 1
 * unplugged, 2 charging, 3 full.
 */
function readBattery(message: JsonObject, elements: Elements, report: Draft): void {
  const level = elements.take("batt", numeric);
  put(report, isGiven(message.trip) ? "externalVoltage" : "battery", level, "batt");
  const charging = elements.take("bs", (value) => [undefined, false, true, true][numeric(value) ?? 0]);
  if (charging !== undefined) report.readings.charging = charging;
}

/** What made the app report: its trigger, or the crossing of a place's border. */
function readEvent(message: JsonObject, elements: Elements, report: Draft): void {
  const crossing = elements.take("event", textOf);
  if (crossing !== undefined) {
    report.attributes.event = crossing;
    const alarm = crossings.get(crossing);
    if (alarm !== undefined) raise(report, alarm);
    return;
  }
  const trigger = elements.take("t", textOf);
  if (trigger === undefined || trigger === "") return;
  report.attributes.event = trigger;
  if (trigger === "i" || trigger === "I") report.readings.ignition ??= trigger === "i";
  const alarm = trigger === "h" ? (harsh[numeric(message.rty) ?? -1] ?? "general") : alarms.get(trigger);
  if (alarm === undefined) return;
  raise(report, alarm);
  if (alarm === "general") report.attributes.alarmCode = trigger;
}

/** The serving cell, its area and number in hexadecimal digits, and the access point that the phone is connected to. */
function readRadio(elements: Elements, report: Draft): void {
  const lac = elements.take("lac", hexadecimal);
  const cellId = elements.take("cid", hexadecimal);
  if (lac !== undefined || cellId !== undefined) {
    const cell = { mcc: elements.take("mcc", numeric), mnc: elements.take("mnc", numeric), lac, cellId };
    const text = cellsText([cell]);
    if (text !== undefined) report.attributes.cells = text;
  }
  const mac = elements.take("BSSID", hardwareAddress);
  const wifi = mac === undefined ? undefined : wifiText([{ mac }]);
  if (wifi !== undefined) report.attributes.wifi = wifi;
}

function hexadecimal(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^[0-9a-f]{1,8}$/i.test(value) ? Number.parseInt(value, 16) : undefined;
}

/** iOS leaves out a zero at the start of a byte. */
function hardwareAddress(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i.test(value)) return undefined;
  return value
    .split(":")
    .map((byte) => byte.padStart(2, "0"))
    .join(":");
}

/** A beacon that the phone sees; its accuracy and signal are those of the beacon. (JSON, _type=beacon) */
export function readBeacon(message: JsonObject): Effect | undefined {
  return readPlain(message, draft());
}

/** Steps of a period; -1 where the phone does not count them. (JSON, _type=steps) */
export function readSteps(message: JsonObject): Effect | undefined {
  const report = draft();
  put(report, "steps", numeric(message.steps), attributeName("steps"));
  const { steps: _, ...rest } = message;
  return readPlain(rest, report);
}

/** Settings of the phone, which stand in an object of its system. (JSON, _type=status) */
export function readStatus(message: JsonObject): Effect | undefined {
  const entries = ["iOS", "android"].flatMap((system) =>
    Object.entries(objectOf(message[system])).map(([name, value]) => [`${system}.${name}`, value] as const),
  );
  const others = Object.entries(message).filter(([, value]) => !isObject(value));
  return readPlain(Object.fromEntries([...others, ...entries]), draft());
}

/** Elements without a meaning of their own, at the message's time. */
function readPlain(message: JsonObject, report: Draft): Effect | undefined {
  const elements = new Elements(message);
  const time = elements.time("tst");
  if (Number.isNaN(time)) return undefined;
  return readingsOf(elements.rest(report), time);
}
