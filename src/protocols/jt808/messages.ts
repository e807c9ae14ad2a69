import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, MessageRow } from "../../wire/protocol.ts";
import { bytesOfLatin1, type Reader } from "../../wire/reader.ts";
import { draft, put, readingsOf } from "../../wire/report.ts";
import { notSupported } from "./envelope.ts";
import { identifierOf } from "./identity.ts";
import { clockOffset } from "./location.ts";
import { answer, type Handler, heard, nameOfSerial, row, type Session, stored } from "./row.ts";
import { asciiText, cardNumber, gbkText } from "./text.ts";

const results = ["success", "failure", "message is wrong", "not supported"] as const;

/** 0x0001 "Terminal general response": serial number and id of the platform's message, result. */
const generalResponse: Handler = ({ reader }) => {
  const serial = reader.u16();
  reader.skip(2);
  const result = reader.u8();
  return [
    { type: "commandResult", text: results[result] ?? `result ${result}`, ...nameOfSerial(serial), ok: result === 0 },
  ];
};

const silentAcknowledged =
  (reason: string): Handler =>
  (message) => [{ type: "ignored", reason }, heard(message)];

/** 0x0002 of trackers that tell battery, signal and status in it. */
const status: Handler = (message) => {
  const report = draft();
  put(report, "battery", message.reader.u8(), "batteryLevel");
  report.attributes.signalStrength = message.reader.u8();
  report.attributes.status = message.reader.u8();
  return [readingsOf(report), stored(message)];
};

/**
 * 0x0100 "Terminal registration": answered by 0x8100 with the code that the terminal gives in 0x0102; here its own
 * number.
 */
const registration: Handler = (message) => {
  const code = bytesOfLatin1(identifierOf(message.phone));
  const body = Uint8Array.of(message.serial >> 8, message.serial & 0xff, 0, ...code);
  return [{ type: "ignored", reason: "registration" }, answer(message, 0x8100, body, "identified")];
};

function calendar(time: number): readonly number[] {
  const date = new Date(time);
  return [date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
}

/** 0x0109 "Time synchronisation": answered by the year in two bytes, month to second, and a result; UTC. */
const timeRequest: Handler = (message, { receivedAt }) => {
  const year = new Date(receivedAt).getUTCFullYear();
  const body = Uint8Array.of(year >> 8, year & 0xff, ...calendar(receivedAt), 0);
  return [{ type: "ignored", reason: "time request" }, answer(message, 0x8109, body, "identified")];
};

/** 0x0004 "Query of the server's time" (2019, 8.6): BCD[6], UTC. */
const timeQuery: Handler = (message, { receivedAt }) => {
  const year = new Date(receivedAt).getUTCFullYear() % 100;
  const digits = [year, ...calendar(receivedAt)].map((value) => String(value).padStart(2, "0")).join("");
  return [
    { type: "ignored", reason: "time request" },
    answer(message, 0x8004, Uint8Array.fromHex(digits), "identified"),
  ];
};

/** Parameters (table 12) that are shown by a name; numbers unless they are `text`. */
const parameters: Readonly<Record<number, readonly [name: string, text?: "text"]>> = {
  1: ["heartbeatInterval"],
  16: ["apn", "text"],
  19: ["server", "text"],
  24: ["port"],
  39: ["sleepReportInterval"],
  40: ["emergencyReportInterval"],
  41: ["defaultReportInterval"],
  85: ["overspeedThreshold"],
  86: ["speedLimitDuration"],
  128: ["odometerTenths"],
  131: ["plateNumber", "text"],
};

/**
 * 0x0104 "Query of parameters, response": serial number of the command, count, and each parameter after its id and
 * length.
 */
const parameterResponse: Handler = (message) => {
  const { reader } = message;
  const serial = reader.u16();
  reader.skip(1);
  const report = draft();
  const texts: string[] = [];
  while (reader.remaining >= 5) {
    const id = reader.u32();
    const length = reader.u8();
    if (length > reader.remaining) break;
    const value = reader.take(length);
    const [name, kind] = parameters[id] ?? [];
    const text = kind === "text" || (name === undefined && length > 4) ? gbkText(value) : String(numberOf(value));
    texts.push(`0x${id.toString(16).padStart(4, "0")}=${text}`);
    if (name !== undefined) report.attributes[name] = kind === "text" ? text : numberOf(value);
    if (id === 0x0080) put(report, "odometer", numberOf(value) / 10, "mileage");
  }
  const result = { type: "commandResult", text: texts.join(" "), ...nameOfSerial(serial), ok: true } as const;
  return Object.keys(report.attributes).length === 0 ? [result] : [readingsOf(report), result];
};

function numberOf(bytes: Uint8Array): number {
  let value = 0;
  for (const byte of bytes.subarray(0, 4)) value = value * 256 + byte;
  return value;
}

/**
 * 0x0107 "Terminal attributes": type, maker, model, terminal id, SIM card, versions. The 2011, 2013 and 2019 forms
 * differ in the lengths.
 */
const attributes: Handler = (message) => {
  const { reader, version } = message;
  const report = draft();
  if (reader.remaining < 44) return [{ type: "ignored", reason: "attributes cut short" }, heard(message)];
  report.attributes.terminalType = reader.u16();
  const maker = asciiText(reader, version === undefined ? 5 : 11);
  if (maker !== "") report.attributes.maker = maker;
  const model = asciiText(reader, version === undefined ? 20 : 30);
  if (model !== "") report.attributes.terminalModel = model;
  const id = asciiText(reader, version === undefined ? 7 : 30);
  if (id !== "") report.attributes.terminalId = id;
  const card = cardNumber(reader, 10);
  if (card !== undefined) report.readings.iccid = card;
  const hardware = counted(reader);
  if (hardware !== "") report.attributes.hardware = hardware;
  const firmware = counted(reader);
  if (firmware !== "") report.readings.firmware = firmware;
  return [readingsOf(report), heard(message)];
};

/** Text after its length of one byte; empty where it is not all there. */
function counted(reader: Reader): string {
  const length = reader.remaining > 0 ? reader.u8() : 0;
  return length > reader.remaining ? "" : gbkText(reader.take(length));
}

const textMessage: Handler = (message) => {
  message.reader.skip(1);
  return [{ type: "commandResult", text: gbkText(message.reader.take(message.reader.remaining)) }, heard(message)];
};

/** 0x1300: serial number of the command, and text in UTF-16. */
const wideText: Handler = ({ reader }) => {
  const serial = reader.u16();
  let text = "";
  while (reader.remaining >= 2) text += String.fromCharCode(reader.u16());
  const shown = text.toWellFormed().replaceAll("\0", "").trim();
  return [{ type: "commandResult", text: shown, ...nameOfSerial(serial) }];
};

/** 0x0701 "Electronic waybill": trackers send in it what they answer to a text command. */
const waybill: Handler = (message) => {
  const { reader } = message;
  const length = Math.min(reader.u32(), reader.remaining);
  return [{ type: "commandResult", text: gbkText(reader.take(length)) }, heard(message)];
};

/** 0x0108, 0x0700, 0x0802 and 0x0805: what the tracker did for a command of the platform. */
const upgradeResult: Handler = (message) => {
  const kind = message.reader.u8();
  const result = message.reader.u8();
  return [{ type: "commandResult", text: `upgrade of ${kind}: result ${result}`, ok: result === 0 }, heard(message)];
};

const commandData: Handler = (message) => {
  const serial = message.reader.u16();
  return [
    { type: "commandResult", text: message.reader.hex(message.reader.remaining), ...nameOfSerial(serial) },
    heard(message),
  ];
};

/** 0x0301 "Event report", 0x0302 "Answer to a question", 0x0303 "Information service". */
const choice =
  (name: string, serial: boolean): Handler =>
  (message) => {
    const report = draft();
    if (serial) message.reader.skip(2);
    report.attributes[name] = message.reader.u8();
    return [readingsOf(report), stored(message)];
  };

/** 0x0705 "CAN bus data": count, time of day, and each frame's id with eight bytes. */
const canData: Handler = (message, context) => {
  const { reader } = message;
  const count = reader.u16();
  const report = draft();
  const digits = reader.hex(5);
  report.attributes.canTime = digits;
  for (let index = 0; index < count && reader.remaining >= 12; index++)
    report.attributes[`can${(reader.u32() & 0x1fffffff).toString(16)}`] = reader.hex(8);
  return [readingsOf(report, canTime(digits, context)), stored(message)];
};

/** Time of a `hhmmssmmmm` by the tracker's clock: the last one before the message came. */
function canTime(digits: string, context: DecodeContext): number | undefined {
  if (!/^\d{10}$/.test(digits)) return undefined;
  const [hours, minutes, seconds] = [0, 2, 4].map((at) => Number(digits.slice(at, at + 2)));
  if (hours === undefined || minutes === undefined || seconds === undefined) return undefined;
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const day = 86_400_000;
  const ofDay = (hours * 3600 + minutes * 60 + seconds) * 1000 - clockOffset(context);
  const time = Math.floor(context.receivedAt / day) * day + (((ofDay % day) + day) % day);
  return time > context.receivedAt + 60_000 ? time - day : time;
}

/** `(740000000001,1,001,BASE,2,TIME)`: a padlock asks for the time, yyyymmddhhmmss in UTC. */
const sentenceTime: MessageRow<Session> = {
  name: "time request of padlocks",
  keys: ["sentence"],
  when: (frame) => textOf(frame).includes("BASE,2"),
  handle: (frame, session, { receivedAt }) => {
    const text = textOf(frame);
    const time = new Date(receivedAt).toISOString().replaceAll(/[-:T]|\..*/g, "");
    const bytes = bytesOfLatin1(text.replace("TIME", time));
    const effects: Effect[] = [
      { type: "ignored", reason: "time request" },
      { type: "reply", bytes, when: "identified" },
    ];
    return { session, effects: [...whoSays(text), ...effects] };
  },
};

/** Other sentences are what a padlock answers to a command. */
const sentenceResult: MessageRow<Session> = {
  name: "result of padlocks",
  keys: ["sentence"],
  handle: (frame, session) => {
    const text = textOf(frame);
    return { session, effects: [...whoSays(text), { type: "commandResult", text }] };
  },
};

function textOf(frame: Uint8Array): string {
  let text = "";
  for (const byte of frame) text += String.fromCharCode(byte);
  return text;
}

function whoSays(text: string): readonly Effect[] {
  const id = /^\((\d{10,20}),/.exec(text)?.[1];
  return id === undefined ? [] : [{ type: "identify", ids: [id] }];
}

/** Messages that say who is there, and answers to commands. */
export const messageRows: readonly MessageRow<Session>[] = [
  row("terminal general response", [0x0001], generalResponse),
  row("heartbeat with status", [0x0002], status, ({ remaining }) => remaining >= 3),
  row("heartbeat", [0x0002, 0x0506], silentAcknowledged("heartbeat")),
  row("logout", [0x0003], silentAcknowledged("logout")),
  row("query of the server's time", [0x0004], timeQuery),
  row("registration", [0x0100], registration),
  row("authentication", [0x0102], silentAcknowledged("authentication")),
  row("parameters", [0x0104], parameterResponse),
  row("terminal attributes", [0x0107], attributes),
  row("upgrade result", [0x0108], upgradeResult),
  row("time synchronisation", [0x0109], timeRequest),
  row("event report", [0x0301], choice("eventId", false)),
  row("answer to a question", [0x0302], choice("answerId", true)),
  row("information service", [0x0303], choice("informationKind", false)),
  row("recorder data", [0x0700], commandData),
  row("electronic waybill", [0x0701], waybill),
  row("CAN bus data", [0x0705], canData),
  row("media search response", [0x0802, 0x0805], commandData),
  row("time zone synchronisation", [0x1007], silentAcknowledged("time zone")),
  row("text message response", [0x1300], wideText),
  row("text message", [0x6006], textMessage),
  row("photo", [0x8888], silentAcknowledged("photo")),
  row("compressed data", [0x0901], silentAcknowledged("compressed data")),
  row("RSA public key", [0x0a00], silentAcknowledged("RSA public key")),
  sentenceTime,
  sentenceResult,
];

/** Any other message is answered as not supported, so that the terminal does not repeat it. */
export const otherRow: MessageRow<Session> = row("other message", undefined, (message) => [
  { type: "ignored", reason: "message of another kind" },
  heard(message, notSupported),
]);
