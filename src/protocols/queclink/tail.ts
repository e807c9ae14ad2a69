import { type Draft, put } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import type { Place } from "./location.ts";
import { isHandheld } from "./models.ts";
import { keep, keepNumber, type Sentence } from "./sentence.ts";
import { isStatus, readAnalog, readHours, readSignal, readStatus, thousandth } from "./status.ts";

/**
 * Fields behind the last position of +RESP:GTFRI of a vehicle tracker: mileage, hours, two inputs, battery, status, and
 * three of the engine.
 */
const longTail = 9;
/**
 * Fields behind the last position of GL500M and its like: signal, error rate, voltage, battery, mode, movement,
 * temperature.
 */
const batteryTail = 7;

/** What each bit of the position append mask adds, from bit 0 on. (GV350CEU, +RESP:GTFRI, "Position Append Mask") */
const appended: readonly ((report: Draft, text: string | undefined) => void)[] = [
  (report, text) => put(report, "satellites", numberOf(text), "satellitesInUse"),
  // A trigger type (a digit) in GV310LAU, a horizontal accuracy (a decimal) in others.
  (report, text) =>
    text?.includes(".") === true
      ? keepNumber(report, "horizontalAccuracy", text)
      : keepNumber(report, "gnssTriggerType", text),
  (report, text) => keepNumber(report, "verticalAccuracy", text),
  (report, text) => keepNumber(report, "accuracy3d", text),
  (report, text) => keepNumber(report, "gnssJammingState", text),
];

/**
 * Reads the field behind a position's cell, and what it says is appended: a mask of two digits in vehicle trackers; in
 * others the mileage, or a reserved `00`. Answers the index behind it.
 */
export function readAppended({ fields, end }: Sentence, at: number, report: Draft, model: string): number {
  const text = fields[at] ?? "";
  if (at >= end) return at;
  if (text.includes(".")) {
    put(report, "odometer", numberOf(text), "mileage");
    return at + 1;
  }
  if (isHandheld(model)) return at;
  const mask = text.length === 2 ? (hexOf(text) ?? 0) : 0;
  let next = at + 1;
  for (let bit = 0; bit < 8; bit++) {
    if (((mask >> bit) & 1) === 0 || next >= end) continue;
    const read = appended[bit];
    if (read === undefined) keep(report, `appended${bit}`, fields[next]);
    else read(report, fields[next]);
    next++;
  }
  return next;
}

/**
 * Reads what stands between the last position and the send time. Fields are counted from the send time, for manuals
 * differ in the middle.
 */
export function readTail(sentence: Sentence, place: Place, report: Draft, model: string): void {
  const { fields, end } = sentence;
  const handheld = isHandheld(model);
  if (handheld && end - place.after === batteryTail) {
    readBatteryTail(fields, place.after, report);
    return;
  }
  const from = readAppended(sentence, place.after, report, model);
  if (!handheld && end - from >= longTail) readLongTail(sentence, from, report, model);
  else readShortTail(sentence, from, report, handheld);
}

function readLongTail({ fields, end }: Sentence, from: number, report: Draft, model: string): void {
  if (model === "GV200") {
    readGv200(fields, from, report);
    return;
  }
  put(report, "odometer", numberOf(fields[from]), "mileage");
  readHours(report, fields[from + 1]);
  for (let index = from + 2; index < end - 5; index++) readAnalog(report, index - from - 2, fields[index]);
  readPercent(report, fields[end - 5]);
  readStatus(report, fields[end - 4]);
  put(report, "rpm", numberOf(fields[end - 3]), "engineRpm");
  put(report, "fuelConsumption", numberOf(fields[end - 2]), "consumption");
  put(report, "fuel", numberOf(fields[end - 1]), "fuelLevel");
}

/** GV200: mileage, hours, three analogue inputs, inputs, outputs. (GV200 5.01, +RESP:GTFRI and +RESP:GTERI) */
export function readGv200(fields: readonly string[], from: number, report: Draft): void {
  put(report, "odometer", numberOf(fields[from]), "mileage");
  readHours(report, fields[from + 1]);
  for (let index = 0; index < 3; index++) readAnalog(report, index, fields[from + 2 + index]);
  const inputs = hexOf(fields[from + 5]);
  const outputs = hexOf(fields[from + 6]);
  for (let bit = 0; inputs !== undefined && bit < 4; bit++)
    report.readings[inputNames[bit] ?? "input1"] = ((inputs >> bit) & 1) === 1;
  for (let bit = 0; outputs !== undefined && bit < 4; bit++)
    report.readings[outputNames[bit] ?? "output1"] = ((outputs >> bit) & 1) === 1;
}

const inputNames = ["input1", "input2", "input3", "input4"] as const;
const outputNames = ["output1", "output2", "output3", "output4"] as const;

function readBatteryTail(fields: readonly string[], from: number, report: Draft): void {
  readSignal(report, fields[from]);
  put(report, "batteryVoltage", thousandth(fields[from + 2]), "batteryMillivolts");
  readPercent(report, fields[from + 3]);
  keepNumber(report, "workingMode", fields[from + 4]);
  const motion = fields[from + 5];
  if (motion === "0" || motion === "1") report.readings.motion = motion === "1";
  put(report, "deviceTemperature", numberOf(fields[from + 6]), "temperatureOfDevice");
}

/** Mileage, hours, device status and, last in a battery tracker, the battery; each has a form of its own. */
function readShortTail({ fields, end }: Sentence, from: number, report: Draft, handheld: boolean): void {
  for (let index = from; index < end; index++) {
    const text = fields[index] ?? "";
    if (text.includes(":")) readHours(report, text);
    else if (text.includes(".")) put(report, "odometer", numberOf(text), "mileage");
    else if (isStatus(text)) readStatus(report, text);
    else if (handheld && index > from && index === end - 1) readPercent(report, text);
  }
  // GT501 and GL50: signal, error rate, battery.
  if (handheld && end - from === 3) readSignal(report, fields[from]);
}

/** The tracker's battery, %. */
export function readPercent(report: Draft, text: string | undefined): void {
  put(report, "battery", numberOf(text), "batteryPercentage");
}
