import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf } from "../../wire/report.ts";
import { readCell } from "./cells.ts";
import { long, type Message, seal, serialOffset } from "./envelope.ts";
import { readDate, readPlace } from "./gps.ts";
import { cellSize, otherLocation } from "./location.ts";
import { acknowledged, type Handler, row, silent } from "./row.ts";
import type { Session } from "./session.ts";
import { readSignal } from "./status.ts";

/** An answer with long start bits, as AZ735 and the WD-209 expect it. */
function longAnswer(message: Message): Uint8Array {
  return seal(message.type, message.serial, new Uint8Array(0), true);
}

/** States of AZ735 in an alarm. */
function readAz735State(report: Draft, state: number): void {
  if (state === 0xa0 || state === 0xa1) report.readings.armed = state === 0xa0;
  else if (state === 0xa2 || state === 0xa3) raise(report, "lowBattery");
  else if (state === 0xa5) raise(report, "doorOpened");
  else raise(report, "general");
}

/** 0x32 and 0x33 of AZ735 with long start bits: each part after its length, which is 0 where the part is missing. */
const az735: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const date = readDate(reader);
  const position = reader.u8() > 0 ? readPlace(reader, report, date) : undefined;
  if (reader.u8() > 0) {
    readCell(reader, report, cellSize);
    readSignal(reader, report);
  }
  reader.skip(reader.u8());
  reader.skip(reader.u8());
  const state = reader.u8();
  report.attributes.status = state;
  if (message.type === 0x33) readAz735State(report, state);
  const effect = position ? fixOf(position, report) : readingsOf(report, date);
  return silent(session, effect, { type: "reply", bytes: longAnswer(message), when: "stored" });
};

/** A value of the vehicle's bus: 32 bits in hexadecimal. */
const obdValue = /^[\da-f]{1,8}$/i;

/** Values of the vehicle's bus by their number in hexadecimal; all in hundredths. */
function readObd(report: Draft, id: number, text: string): void {
  if (id === 0x4a) {
    if (text !== "") report.readings.vin = text;
    return;
  }
  if (!obdValue.test(text)) return;
  const value = Number.parseInt(text, 16) / 100;
  if (id === 0x28) put(report, "odometer", value, "obdOdometer");
  else if (id === 0x2b) put(report, "fuel", value, "obdFuel");
  else if (id === 0x2d) put(report, "coolantTemperature", value, "obdCoolant");
  else if (id === 0x35) put(report, "vehicleSpeed", value, "obdSpeed");
  else if (id === 0x36) put(report, "rpm", value, "obdRpm");
  else if (id === 0x47) put(report, "fuelUsed", value, "obdFuelUsed");
  else if (id === 0x49) put(report, "engineSeconds", Math.round(value * 3600), "obdHours");
}

/** Satellites, coordinates, speed, course and status behind the text of 0x8C. */
const placeSize = 12;

/** 0x8C of FM08: date, ACC, "283=000274d8,..." and a place, which also comes as a location of its own. */
const obd: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const date = readDate(reader);
  report.readings.ignition = reader.u8() > 0;
  const text = reader.latin1(Math.max(0, reader.remaining - placeSize));
  for (const pair of text.split(",")) {
    const [name = "", value = ""] = pair.split("=", 2);
    readObd(report, Number.parseInt(name.slice(0, 2), 16), value);
  }
  return silent(session, readingsOf(report, date));
};

function readText(reader: Reader, count: number): string {
  return reader.latin1(count).replaceAll("\0", " ").trim();
}

/** 0x40 of WD-209: a vehicle battery's own report; temperature in tenths of a kelvin, voltages in mV. */
const battery: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const { attributes } = report;
  reader.skip(8);
  const time = reader.u32() * 1000;
  attributes.relativeCapacity = reader.u8();
  attributes.remainingCapacity = reader.u16();
  attributes.absoluteCapacity = reader.u8();
  attributes.fullCapacity = reader.u16();
  attributes.batteryHealth = reader.u8();
  attributes.batteryTemperature = Math.round(reader.u16() - 2731) / 10;
  attributes.current = reader.u16();
  report.readings.batteryVoltage = reader.u16() / 1000;
  attributes.cycleIndex = reader.u16();
  for (let cell = 1; cell <= 14; cell++) attributes[`batteryCell${cell}`] = reader.u16() / 1000;
  attributes.currentChargeInterval = reader.u16();
  attributes.maximumChargeInterval = reader.u16();
  attributes.barcode = readText(reader, 16);
  attributes.batteryVersion = reader.u16();
  attributes.manufacturer = readText(reader, 16);
  attributes.batteryStatus = reader.u32();
  attributes.controllerStatus = reader.u32();
  attributes.controllerFault = reader.u32();
  return acknowledged(message, session, readingsOf(report, time));
};

/** 0x41 of WD-209: a piece of a picture; pictures are not kept. */
const multimedia: Handler = (message, session) =>
  silent(
    session,
    { type: "ignored", reason: "picture" },
    { type: "reply", bytes: longAnswer(message), when: "identified" },
  );

/** 0x35, 0x36 of X1: a picture is offered, or a piece of one; it is not kept, so none is asked for. */
const picture: Handler = (_message, session) => silent(session, { type: "ignored", reason: "picture" });

/** Content of 0x35 (X1 v1.1). */
const offerSize = 26;

/** The server's own commands, sent back. */
const echo: Handler = (_message, session) => silent(session, { type: "ignored", reason: "command" });

/**
 * What no manual at hand lays out: number and content are kept as they are, so that the acknowledgement is true, and
 * the tracker goes on to its next message. With long start bits come pieces of files too: those are a failure that the
 * trace shows, without an answer.
 */
const unknown: Handler = (message, session) => {
  if (message.extended) return silent(session, { type: "failure", cause: "unsupported" });
  const report = draft();
  report.attributes.message = Uint8Array.of(message.type).toHex() + message.reader.hex(message.size);
  return acknowledged(message, session, readingsOf(report));
};

const sealed = row("other", undefined, unknown);

/** Everything else, with a serial number and a checksum to be compared, or without. */
const other: MessageRow<Session> = {
  name: "other",
  handle: (frame, session, context) =>
    serialOffset(frame) < 0
      ? silent(session, { type: "failure", cause: "unsupported" })
      : sealed.handle(frame, session, context),
};

/** Messages of few models, and at the end everything else. */
export const otherRows: readonly MessageRow<Session>[] = [
  row("location (AZ735)", [long | 0x32, long | 0x33], az735),
  row("vehicle bus", [0x8c], obd),
  row("battery (WD-209)", [0x40], battery),
  row("multimedia (WD-209)", [0x41], multimedia),
  row("picture offered (X1)", [0x35], picture, (size) => size === offerSize),
  row("picture (X1)", [long | 0x36], picture),
  row("command echo", [0x80, 0x81, 0x82], echo),
  otherLocation,
  other,
];
