import type { Effect } from "../../model/effects.ts";
import type { FlagReading } from "../../model/readings.ts";
import { type Draft, draft, fixOf, readingsOrNothing, within } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";
import { overTheAir, readAlert } from "./alerts.ts";
import { readCells } from "./cells.ts";
import { isSomewhere, noTime, readPlace, readTime } from "./place.ts";
import { Fields, type Sentence } from "./sentence.ts";
import { readTail } from "./tail.ts";
import { keep, putFlag, putText } from "./values.ts";

const inputs = ["input1", "input2", "input3", "input4"] as const;
const outputs = ["output1", "output2"] as const;

/** A message whose time or coordinates can't be read. */
export const malformed: readonly Effect[] = Object.freeze([Object.freeze({ type: "failure", cause: "malformed" })]);

/** A location or alert (AIS-140, table 4A; VT140 1.0, 2.3). */
export function readLocation({ head, body }: Sentence): readonly Effect[] {
  const report = draft();
  const alert = readAlert(report, head);
  const fields = new Fields(body);
  // The registration of the vehicle, which the login gives.
  fields.next();
  const fixed = readValidity(fields);
  const time = readTime(report, fields);
  const valid = fixed ?? readValidity(fields);
  const place = readPlace(fields);
  if (time === noTime || place === undefined) return malformed;
  const speed = within(report, fields.next(), 0, 1e4, "reportedSpeed");
  const course = within(report, fields.next(), 0, 360, "reportedHeading");
  putText(report, "satellites", fields.next(), "satelliteCount");
  const altitude = within(report, fields.next(), -1e5, 1e6, "reportedAltitude");
  readVehicle(report, fields);
  readCells(report, fields);
  readPorts(report, fields);
  const answer = readTail(report, fields.all.slice(fields.at));
  if (alert !== overTheAir) keep(report, "otaResponse", answer);
  const position =
    place === "none"
      ? readingsOrNothing(report, "a location without a place", time)
      : fixOf({ time, valid: valid ?? isSomewhere(place), ...place, altitude, speed, course }, report);
  // Each SET, GET and CLR is answered by an alert of this kind (AIS-140, 3.1.3).
  return alert === overTheAir ? [position, { type: "commandResult", text: answer || "parameter changed" }] : [position];
}

/** `1` or `A`: a fix; `0` or `V`: none. Undefined: the next field says something else. */
function readValidity(fields: Fields): boolean | undefined {
  const text = fields.peek();
  if (!/^[01AV]$/.test(text)) return undefined;
  fields.next();
  return text === "1" || text === "A";
}

/** Precision, network, power and the tracker's box. */
function readVehicle(report: Draft, fields: Fields): void {
  putText(report, "pdop", fields.next(), "positionalDilution");
  putText(report, "hdop", fields.next(), "horizontalDilution");
  const operator = fields.next().trim();
  if (operator !== "") report.readings.operator = operator;
  putFlag(report, "ignition", fields.next(), "ignitionStatus");
  putFlag(report, "powerConnected", fields.next(), "mainPowerStatus");
  putText(report, "externalVoltage", fields.next(), "mainInputVoltage");
  putText(report, "batteryVoltage", fields.next(), "internalBatteryVoltage");
  const emergency = fields.next();
  if (emergency === "0" || emergency === "1") report.attributes.emergencyStatus = emergency === "1";
  else keep(report, "emergencyStatus", emergency);
  // The standard makes the state of the cover optional: without it the signal comes here, and then the country.
  const signalIsNext = numberOf(fields.peek()) !== undefined && /^\d{3}$/.test(fields.peek(1));
  if (!signalIsNext) keep(report, "tamperAlert", fields.next());
}

/** Four digits of inputs and, where they follow, two of outputs; the first one is the last digit. */
export function readPorts(report: Draft, fields: Fields): void {
  if (fields.at >= fields.all.length) return;
  putPorts(report, inputs, fields.next());
  if (/^[01]{2}$/.test(fields.peek())) putPorts(report, outputs, fields.next());
}

/** Some makers write a 2 for an input that they do not have. */
function putPorts(report: Draft, names: readonly FlagReading[], digits: string): void {
  for (const [index, name] of names.entries()) {
    const digit = digits.at(-1 - index);
    if (digit === "0" || digit === "1") report.readings[name] = digit === "1";
  }
}
