import type { FlagReading, NumberReading } from "../../model/readings.ts";
import { cellsText } from "../../wire/radio.ts";
import type { Draft } from "../../wire/report.ts";
import { humidities, putSensor, temperatures } from "./sensor.ts";
import { plainOf, putFlag, putNumber, wholeOf } from "./values.ts";

/** Fields of an event report as the vendor sets them (parameter 177), for a device without the tag `format`. */
const defaultFormat = "#EDT#,#EID#,#PDT#,#LAT#,#LONG#,#SPD#,#HEAD#,#ODO#,#LAC#,#CID#,#VIN#,#VBAT#";
/** Longest text of the fields behind those of the format that is kept. */
const longestRest = 256;

/** The fields of an event report: what has a tag, under it, and what stands behind. Empty ones are left out. */
export interface Tagged {
  readonly values: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
}

/** Fields under the tags of a format, `#EDT#,#EID#,...`. A field whose tag is none gets its place as a name. */
export function taggedOf(fields: readonly string[], format: string = defaultFormat): Tagged {
  const tags = format.split(",").map((text, index) => /^\s*#([A-Z0-9]{1,12})#\s*$/.exec(text)?.[1] ?? `F${index + 1}`);
  const values = new Map<string, string>();
  for (const [index, tag] of tags.entries()) {
    const text = fields[index]?.trim() ?? "";
    if (text !== "") values.set(tag, text);
  }
  return { values, rest: fields.slice(tags.length).map((text) => text.trim()) };
}

/** Tags of numbers that the catalogue has, in its units: volts, kilometres, percent, litres, degrees. */
const numbers: ReadonlyMap<string, NumberReading> = new Map([
  ["ODO", "odometer"],
  ["ODOD", "odometer"],
  ["VBAT", "batteryVoltage"],
  ["V1", "externalVoltage"],
  ["V2", "batteryVoltage"],
  ["V3", "analog3"],
  ["V4", "analog4"],
  ["BATC", "battery"],
  ["SATU", "satellites"],
  ["SAT", "satellitesVisible"],
  ["SATN", "satellitesVisible"],
  ["HDOP", "hdop"],
  ["PDOP", "pdop"],
  ["LOCA", "accuracy"],
  ["TVI", "deviceTemperature"],
  ["CFL", "fuelVolume"],
  ["CFL2", "fuelVolume2"],
  ["RPM", "rpm"],
  ...temperatures.map((name, index) => [`TV${index + 1}`, name] as const),
  ...humidities.map((name, index) => [`TH${index + 1}`, name] as const),
]);

/** Tags of `1` and `0`. */
const flags: ReadonlyMap<string, FlagReading> = new Map([
  ["IGN", "ignition"],
  ["IGNL", "ignition"],
  ["IARM", "armed"],
  ...([1, 2, 3, 4, 5, 6, 7, 8] as const).map((n) => [`IN${n}`, `input${n}`] as const),
  ...(["output1", "output2", "output3", "output4"] as const).flatMap(
    (name, index) =>
      [
        [`OUT${index + 1}`, name],
        [`OUT${"ABCD"[index]}`, name],
      ] as const,
  ),
]);

/** Tags of texts: the driver's card or key, the firmware. */
const texts: ReadonlyMap<string, "driverId" | "firmware"> = new Map([
  ["DAL", "driverId"],
  ["DID", "driverId"],
  ["VER", "firmware"],
]);

/** Digits of a vehicle identification number. The same tag is the vehicle's voltage. */
const vinLength = 17;

function putField(report: Draft, tag: string, text: string): void {
  const number = numbers.get(tag);
  const flag = flags.get(tag);
  const name = texts.get(tag);
  if (number !== undefined) putNumber(report, number, text, tag);
  else if (flag !== undefined) putFlag(report, flag, text, tag);
  else if (name !== undefined && report.readings[name] === undefined) report.readings[name] = text;
  else if (/^TD[1-4]$/.test(tag)) putSensor(report, text, tag);
  else if (tag !== "VIN") report.attributes[tag] = plainOf(text);
  else if (text.length === vinLength) report.readings.vin = text;
  else putNumber(report, "externalVoltage", text, tag);
}

/** Network code (NC), location area (LAC) and cell (CID). */
function putCell(report: Draft, values: ReadonlyMap<string, string>): void {
  const lac = wholeOf(values.get("LAC"));
  const cellId = wholeOf(values.get("CID"));
  const code = values.get("NC") ?? "";
  const known = /^\d{5,6}$/.test(code);
  if (lac !== undefined && cellId !== undefined) {
    const mcc = known ? Number(code.slice(0, 3)) : undefined;
    const cells = cellsText([{ mcc, mnc: known ? Number(code.slice(3)) : undefined, lac, cellId }]);
    if (cells !== undefined) report.attributes.cells = cells;
    if (code !== "" && !known) report.attributes.NC = code;
    return;
  }
  for (const tag of ["NC", "LAC", "CID"]) {
    const text = values.get(tag);
    if (text !== undefined) report.attributes[tag] = text;
  }
}

/** Tags that are read apart: the event, times, place, motion, network and who the unit is. */
const apart: ReadonlySet<string> = new Set([
  ...["EID", "EDT", "PDT", "LAT", "LONG", "LTDD", "LGDD", "SPD", "SPDK", "HEAD", "ALT", "ALTD"],
  ...["NC", "LAC", "CID", "IMEI"],
]);

/** Puts all fields of a report but those of its time and place. */
export function putFields(report: Draft, { values, rest }: Tagged): void {
  for (const [tag, text] of values) if (!apart.has(tag)) putField(report, tag, text);
  putCell(report, values);
  if (rest.some((text) => text !== "")) report.attributes.eventData = rest.join(",").slice(0, longestRest);
}
