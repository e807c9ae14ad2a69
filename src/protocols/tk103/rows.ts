import type { Effect } from "../../model/effects.ts";
import type { MessageKey, MessageRow } from "../../wire/protocol.ts";
import { type Draft, draft, put, readingsOf, readingsOrNothing } from "../../wire/report.ts";
import { numberOf } from "../../wire/text.ts";
import { readPack, readRegisters } from "./batteries.ts";
import { readCells, readSurroundings } from "./cells.ts";
import { readAlarm, readEvent, readPids } from "./events.ts";
import { readFields, readPosition, timeOf, validAt } from "./position.ts";
import { type Sentence, sentenceOf } from "./sentence.ts";
import { decoded, type Handler, malformed, reply, type Tk103Session } from "./session.ts";
import { readStatus } from "./status.ts";

/** What a row reads of a message. */
type Read = (sentence: Sentence, report: Draft) => readonly Effect[];

function handler(read: Read): Handler {
  return (frame, session) => {
    const sentence = sentenceOf(frame);
    if (sentence === undefined) return { session, effects: [malformed] };
    return decoded(session, sentence, read(sentence, draft()), imeiOf(sentence));
  };
}

/** The IMEI of a login or handshake, whose last eleven digits are the identifier's. */
function imeiOf({ id, code, body }: Sentence): string | undefined {
  if (code !== "BP05" && code !== "BP00") return undefined;
  const imei = /^[1-9]\d{14}/.exec(body)?.[0];
  return imei === undefined || imei === id ? undefined : imei;
}

/** The position in a body, or the cells that stand in its place, or what was read before. */
function located(body: string, report: Draft): Effect {
  const at = validAt(body);
  if (at !== undefined) return readPosition(body, at, report) ?? malformed;
  if (body.includes("{")) readCells(body, report);
  return readingsOrNothing(report, "no position");
}

const handshake: Read = (sentence) => [reply(sentence, "AP01HSO", "identified")];

const login: Read = (sentence, report) => [located(sentence.body, report), reply(sentence, "AP05", "stored")];

const position: Read = ({ body }, report) => [located(body, report)];

const alarm: Read = ({ body }, report) => {
  readAlarm(body.slice(0, 1), false, report);
  return [located(body.slice(1), report)];
};

/** `ALARM,kind,value,position`. */
const obdAlarm: Read = ({ body }, report) => {
  const [word, kind = "", value = ""] = body.split(",", 3);
  if (word === "ALARM") {
    readAlarm(kind, true, report);
    if (numberOf(value) !== undefined) report.attributes.alarmValue = numberOf(value) ?? 0;
  }
  return [located(body, report)];
};

/** `0,parameters,yymmddhhmmss,status`. */
const obdData: Read = ({ body }, report) => {
  const [, hex = "", clock = "", status = ""] = body.split(",");
  readPids(hex, report);
  readStatus(status, report);
  return [readingsOf(report, timeOf(clock.slice(0, 6), clock.slice(6), report))];
};

const cells: Read = ({ body }, report) => {
  readCells(body, report);
  return [readingsOrNothing(report, "no cells")];
};

const pack: Read = ({ body }, report) => {
  readPack(body, report);
  return [readingsOrNothing(report, "no values")];
};

const registers: Read = ({ body }, report) => {
  readRegisters(body, report);
  return [readingsOrNothing(report, "no registers")];
};

const vin: Read = ({ body }, report) => {
  report.readings.vin = body.slice(0, 17);
  return [readingsOf(report)];
};

/** Charge of a level, %; 255: not known. */
const levels: ReadonlyMap<string, number> = new Map([
  ["6", 100],
  ["5", 80],
  ["4", 50],
  ["3", 20],
  ["2", 10],
]);

/** `ddmmyy,hhmmss,level,battery 0.01 V,supply 0.1 V,installed`; 65535: not known. */
const battery: Read = ({ code, body }, report) => {
  report.attributes.event = code;
  const [day = "", clock = "", level = "", voltage, supply] = body.split(",");
  put(report, "battery", levels.get(level), "batteryLevel");
  const [own, outer] = [numberOf(voltage), numberOf(supply)];
  if (own !== undefined && own !== 65_535) put(report, "batteryVoltage", own / 100, "batteryVoltageCode");
  if (outer !== undefined && outer !== 65_535) put(report, "externalVoltage", outer / 10, "supplyVoltageCode");
  return [readingsOf(report, timeOf(day.slice(4, 6) + day.slice(2, 4) + day.slice(0, 2), clock, report))];
};

/** `ddmmyy,hhmmss,$text$`. */
const textResult: Read = ({ body }) => {
  const from = body.indexOf("$");
  if (from < 0) return [{ type: "ignored", reason: "an answer without text" }];
  const end = body.indexOf("$", from + 1);
  return [{ type: "commandResult", text: body.slice(from + 1, end < 0 ? undefined : end) }];
};

const surroundings: Read = ({ code, body }, report) => {
  readEvent(code, report);
  const { date, clock } = readSurroundings(body, report);
  return [readingsOf(report, timeOf(date, clock, report))];
};

const fields: Read = ({ code, body }, report) => {
  readEvent(code, report);
  return [readFields(body, report) ?? malformed];
};

/** Answers whose letters do not repeat the command's. */
const commandsOf: ReadonlyMap<string, string> = new Map([["BP01", "AP07"]]);

const answer: Read = ({ code, body }) => [
  { type: "commandResult", text: `${code}${body}`, to: commandsOf.get(code) ?? `A${code.slice(1)}` },
];

const other: Handler = (_, session) => ({ session, effects: [{ type: "failure", cause: "unsupported" }] });

/** Codes with a row of their own. */
const known: ReadonlySet<string> = new Set(["BP00", "BP05", "BO01", "BQ81", "BQ86", "BZ00", "BS50", "BS51"]);

/** The key of a message for the table. */
export function classify(frame: Uint8Array): MessageKey | undefined {
  // Most messages are `(...BR00...`, and need no parting for that.
  if (isContinuous(frame)) return "position";
  const sentence = sentenceOf(frame);
  if (sentence === undefined) return undefined;
  const { code, body, fielded } = sentence;
  if (fielded) {
    if (code === "ZC03" || code === "ZC20") return code;
    return /^DW[56]/.test(code) && !/^\d{6},[AV],/.test(body) ? "surroundings" : "fields";
  }
  if (known.has(code)) return code;
  if (code === "BV00" && body.length >= 17) return code;
  if (validAt(body) !== undefined || body.includes("{")) return "position";
  return code.startsWith("B") ? "answer" : "other";
}

/** Whether the code behind the identifier is `BR0` and a digit: a position by time or by distance. */
function isContinuous(frame: Uint8Array): boolean {
  let at = frame[0] === 0x28 ? 1 : 0;
  while (at < 20 && isDigit(frame[at])) at++;
  return frame[at] === 0x42 && frame[at + 1] === 0x52 && frame[at + 2] === 0x30 && isDigit(frame[at + 3]);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

function row(name: string, key: string, read: Read): MessageRow<Tk103Session> {
  return { name, keys: [key], handle: handler(read) };
}

/** Every message. */
export const rows: readonly MessageRow<Tk103Session>[] = [
  row("BP00, handshake", "BP00", handshake),
  row("BP05, login", "BP05", login),
  row("BR00 and others with a position", "position", position),
  row("BO01, alarm", "BO01", alarm),
  row("BQ81, alarm of an OBD tracker", "BQ81", obdAlarm),
  row("BQ86, OBD data", "BQ86", obdData),
  row("BZ00, cells", "BZ00", cells),
  row("BS50, battery", "BS50", pack),
  row("BS51, battery", "BS51", registers),
  row("BV00, VIN", "BV00", vin),
  row("answer to a command", "answer", answer),
  row("ZC20, battery", "ZC20", battery),
  row("ZC03, answer to a text command", "ZC03", textResult),
  row("DW5x, cells and access points", "surroundings", surroundings),
  row("BP05, ZCxx, DW3x with fields", "fields", fields),
  { name: "other", keys: ["other"], handle: other },
];
