import type { Alarm } from "../../model/alarms.ts";
import type { Report } from "../../model/effects.ts";
import { cellsText } from "../../wire/radio.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf, within } from "../../wire/report.ts";
import { degreesMinutes, hexOf, hhmmss, mismatch, numberOf } from "../../wire/text.ts";
import { digitTime } from "../../wire/time.ts";
import { kmhOfKnots } from "../../wire/units.ts";
import type { Message } from "./message.ts";

/** What makes a tracker report, in the words of its texts, without capitals and exclamation marks. */
const events: ReadonlyMap<string, Alarm> = new Map([
  ["help me", "sos"],
  ["low battery", "lowBattery"],
  ["move", "movement"],
  ["moved", "movement"],
  ["speed", "overspeed"],
  ["over speed", "overspeed"],
  ["stockade", "geofence"],
  ["shock", "shock"],
  ["power cut", "powerCut"],
  ["accstart", "ignitionOn"],
  ["accstop", "ignitionOff"],
]);

/** The first word for each alarm that a simulated device can name. */
export const wordOf: ReadonlyMap<Alarm, string> = new Map(
  [...events].toReversed().map(([word, alarm]) => [alarm, word]),
);

const ignitionWords: ReadonlyMap<string, boolean> = new Map([
  ["acc on", true],
  ["accstart", true],
  ["acc off", false],
  ["accstop", false],
]);

function readEvent(event: string, report: Draft): void {
  if (event === "") return;
  report.attributes.event = event;
  const word = event.toLowerCase().replaceAll("!", "");
  const alarm = events.get(word);
  if (alarm !== undefined) raise(report, alarm);
  const ignition = ignitionWords.get(word);
  if (ignition !== undefined) report.readings.ignition = ignition;
}

/** `F:4.01V/ADC1=0.20V/ADC2=0.00V`: the battery, full or low, and analogue inputs. */
function readVoltages(text: string, report: Draft): void {
  const [own = "", ...inputs] = text.split("/");
  if (own.startsWith("L")) report.attributes.batteryLow = true;
  const volts = /^[FL]:([\d.]+)V$/.exec(own)?.[1];
  if (volts === undefined) report.attributes.voltage = own;
  else put(report, "batteryVoltage", numberOf(volts), "voltage");
  for (const input of inputs) {
    const [, number, value] = /^ADC([1-4])=(-?[\d.]+)V$/.exec(input) ?? [];
    const name = analogNames[Number(number) - 1];
    if (name !== undefined) put(report, name, numberOf(value), `adc${number}`);
  }
}

const analogNames = ["analog1", "analog2", "analog3", "analog4"] as const;

function wholeOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * Satellites, altitude, voltages, charging, length, checksum, country, network, area and cell in hexadecimal, and of
 * some firmware the mileage. Gives the altitude back.
 */
function readTail({ tail, voltageAt }: Message, report: Draft): number | undefined {
  if (voltageAt === undefined) return undefined;
  const { readings, attributes } = report;
  const [satellites, altitude] = tail.slice(0, voltageAt);
  put(report, "satellites", wholeOf(satellites), "satelliteCount");
  readVoltages(tail[voltageAt] ?? "", report);
  const [charging, , , mcc, mnc, area, cell, mileage = ""] = tail.slice(voltageAt + 1);
  if (charging === "0" || charging === "1") readings.charging = charging === "1";
  const [lac, cellId] = [hexOf(area), hexOf(cell)];
  if (lac !== undefined && cellId !== undefined && cellId !== 0)
    attributes.cells = cellsText([{ mcc: wholeOf(mcc), mnc: wholeOf(mnc), lac, cellId }]) ?? "";
  if (mileage.endsWith("km")) put(report, "odometer", numberOf(mileage.slice(0, -2)), "mileage");
  else if (mileage !== "") attributes.extra = mileage;
  return within(report, altitude, -10_000, 100_000, "reportedAltitude");
}

/** Degrees of `dddmm.mmmm`, which some firmware writes without leading zeros. */
function degreesOf(text: string): number | typeof mismatch {
  return degreesMinutes(text.indexOf(".") === 1 ? `0${text}` : text);
}

/** Epoch ms of `ddmmyy` and `hhmmss.sss`. Undefined: there is no such date. `mismatch`: the texts are no digits. */
function timeOf(date: string, clock: string, report: Draft): number | undefined | typeof mismatch {
  if (!/^\d{6}$/.test(date) && date !== "") return mismatch;
  const ofDay = hhmmss.read([clock], 0);
  // Before its first fix a tracker has no date, and only the decimals of a time.
  if (ofDay === mismatch && !/^(?:\d{6})?(?:\.\d*)?$/.test(clock)) return mismatch;
  const day = digitTime(`${date.slice(4)}${date.slice(2, 4)}${date.slice(0, 2)}000000`);
  if (day !== undefined && ofDay !== mismatch) return day + ofDay;
  if (date !== "") report.attributes.reportedDate = date;
  if (clock !== "") report.attributes.reportedTime = clock;
  return undefined;
}

/** What a message reports; undefined: its time or coordinates can't be read. */
export function reportOf(message: Message): Report | undefined {
  const report = draft();
  const { attributes } = report;
  if (message.phone !== "") attributes.phone = message.phone;
  if (message.signal !== "") attributes.gpsSignal = message.signal;
  readEvent(message.event, report);
  const altitude = readTail(message, report);
  if (message.sentence === undefined) return readingsOf(report);
  const [clock = "", valid, north = "", south, east = "", west, speed, course, date = ""] = message.sentence;
  const time = timeOf(date, clock, report);
  if (time === mismatch) return undefined;
  if (north === "" && east === "") return readingsOf(report, time);
  const latitude = degreesOf(north);
  const longitude = degreesOf(east);
  if (latitude === mismatch || longitude === mismatch || (valid !== "A" && valid !== "V")) return undefined;
  if ((south !== "N" && south !== "S") || (west !== "E" && west !== "W" && west !== "")) return undefined;
  const knots = within(report, speed, 0, 10_000, "speed");
  return fixOf(
    {
      time,
      valid: valid === "A",
      latitude: south === "S" ? 0 - latitude : latitude,
      longitude: west === "W" ? 0 - longitude : longitude,
      altitude,
      speed: knots === undefined ? undefined : kmhOfKnots(knots),
      course: within(report, course, 0, 360, "course"),
    },
    report,
  );
}
