import type { Effect } from "../../model/effects.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, put, readingsOf, readingsOrNothing } from "../../wire/report.ts";
import { mismatch, parseDecimal } from "../../wire/text.ts";
import { long } from "./envelope.ts";
import { readDate } from "./gps.ts";
import { type Handler, row, silent } from "./row.ts";
import type { Session } from "./session.ts";

/** What one kind of information reads into the report; the time where it has one. */
type Information = (reader: Reader, report: Draft) => number | undefined;

/** Fields of a status text; the manual knows a dozen, so more than that many are not kept. */
const maximumFields = 32;

/** Status as text, "ALM1=FF;STA1=C0;DYD=01;...": STA1 bit 7 defence, DYD bit 1 oil and electricity cut. */
const synchronisation: Information = (reader, report) => {
  const fields = reader.latin1(reader.remaining).split(";", maximumFields);
  for (const field of fields) {
    const [name = "", value = ""] = field.split("=", 2);
    if (!/^[A-Z][A-Z0-9]{0,15}$/.test(name) || value === "") continue;
    report.attributes[name.toLowerCase()] = value;
    const bits = Number.parseInt(value, 16);
    if (Number.isNaN(bits)) continue;
    if (name === "STA1") report.readings.armed = (bits & 0x80) !== 0;
    if (name === "DYD") report.readings.blocked = (bits & 0x02) !== 0;
  }
  return undefined;
};

/** Bit 0 door, 1 level that triggers, 2 the port itself; some trackers put the date ahead. */
const door: Information = (reader, report) => {
  const time = reader.remaining >= 7 ? readDate(reader) : undefined;
  const bits = reader.u8();
  report.readings.doorOpen = (bits & 0x01) !== 0;
  report.readings.input1 = (bits & 0x04) !== 0;
  return time;
};

/** State of the GPS module, then the count and strengths of the satellites used, then of those only seen. */
const satellites: Information = (reader, report) => {
  report.attributes.gpsStatus = reader.u8();
  const used = reader.u8();
  reader.skip(used);
  report.readings.satellites = used;
  put(report, "satellitesVisible", used + reader.u8(), "satellitesInView");
  return undefined;
};

/** IMEI, IMSI and ICCID, eight, eight and ten bytes of digits; the last may be filled up with F. */
const card: Information = (reader, report) => {
  reader.skip(8);
  report.attributes.imsi = reader.hex(8).slice(1);
  report.readings.iccid = reader.hex(10).replace(/f+$/, "");
  return undefined;
};

/** One byte: 4G or 2G; two: the supply. */
const networkOrSupply: Information = (reader, report) => {
  if (reader.remaining === 1) report.attributes.networkTechnology = reader.u8() > 0 ? "4G" : "2G";
  else if (reader.remaining === 2) report.readings.externalVoltage = reader.u16() / 100;
  return undefined;
};

/**
 * "!AIOIL,address,output,temperature,version,state,measured,moving,waves,check" of a fuel sensor, perhaps behind a
 * date.
 */
const fuel: Information = (reader, report) => {
  const time = reader.remaining > 6 && reader.peek() !== 0x21 ? readDate(reader) : undefined;
  const fields = reader.latin1(reader.remaining).split(",");
  const temperature = parseDecimal(fields[3] ?? "");
  const measured = parseDecimal(fields[6] ?? "");
  if (fields[0] !== "!AIOIL" || fields.length < 10 || temperature === mismatch || measured === mismatch) return time;
  put(report, "temperature", temperature, "temperatureCode");
  report.attributes.fuelMeasured = measured;
  return time;
};

/** Text of a serial device, "RFID:" and a card for one; or header, type, card of four bytes, check, end. */
const cardReader: Information = (reader, report) => {
  const first = reader.peek();
  const letter = (first >= 0x41 && first <= 0x5a) || (first >= 0x61 && first <= 0x7a);
  if (letter) {
    const text = reader.latin1(reader.remaining).trim();
    report.attributes.serial = text;
    if (text.startsWith("RFID:")) report.readings.driverId = text.slice("RFID:".length);
    return undefined;
  }
  reader.skip(2);
  report.readings.driverId = reader.hex(4);
  return undefined;
};

/** Kinds of 0x94 (JM-VL03 v1.1.2, information transmission; 0x0B, 0x0D, 0x1E of other models). */
const kinds: ReadonlyMap<number, Information> = new Map<number, Information>([
  [0x00, supply],
  [0x04, synchronisation],
  [0x05, door],
  [0x09, satellites],
  [0x0a, card],
  [0x0b, networkOrSupply],
  [0x0d, fuel],
  [0x1b, cardReader],
  [
    0x1e,
    (reader, report) => {
      put(report, "temperature", reader.i32() / 10, "temperatureCode");
      put(report, "humidity", reader.i32() / 10, "humidityCode");
      return undefined;
    },
  ],
]);

/** Voltage of the vehicle in hundredths of a volt. */
function supply(reader: Reader, report: Draft): undefined {
  report.readings.externalVoltage = reader.u16() / 100;
}

/** 0x94 with long start bits: a kind and its data; no answer is asked. */
const information: Handler = (message, session) => {
  const report = draft();
  const kind = message.reader.u8();
  const time = kinds.get(kind)?.(message.reader, report);
  return silent(session, readingsOrNothing(report, `information ${kind}`, time));
};

/** 0x94 with short start bits: the supply alone. */
const shortInformation: Handler = (message, session) => {
  const report = draft();
  put(report, "externalVoltage", message.reader.i16() / 100, "supply");
  return silent(session, readingsOf(report));
};

/** 0x9B: data of a device on the serial port, after a byte for its kind. */
const serialData: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  report.attributes.serialDevice = reader.u8();
  const bytes = reader.take(reader.remaining);
  const printable = bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0d || byte === 0x0a);
  report.attributes.serialData = printable ? String.fromCharCode(...bytes).trim() : bytes.toHex();
  const effect: Effect = readingsOf(report);
  return silent(session, effect);
};

/** Everything that is no location: 0x94 and 0x9B. */
export const informationRows: readonly MessageRow<Session>[] = [
  row("information", [long | 0x94], information),
  row("supply", [0x94], shortInformation),
  row("serial data", [0x9b], serialData),
];
