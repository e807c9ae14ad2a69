import type { CommandResult, Effect, Fix, ReadingsReport } from "../../model/effects.ts";
import type { DecodeContext, Decoded, MessageRow } from "../../wire/protocol.ts";
import { draft, put, readingsOf } from "../../wire/report.ts";
import {
  ddmmyy,
  decimal,
  grammar,
  integer,
  latitude,
  longitude,
  Mismatch,
  mismatch,
  oneOf,
  orText,
} from "../../wire/text.ts";
import { handleBinary } from "./binary.ts";
import { cellsOf } from "./cells.ts";
import { positionWidth, type Reports, readPosition, reportOf } from "./position.ts";
import { readBase, readBs, readLink, readNbr, readV3 } from "./reports.ts";
import { bodyAt, type Sentence, sentenceOf } from "./sentence.ts";
import { decoded, type H02Session, isId, type Meaning } from "./session.ts";

type Row = MessageRow<H02Session>;

/** What a sentence asks for; undefined: it is malformed. */
type Understand = (sentence: Sentence, context: DecodeContext) => Meaning | undefined;

/** A row for sentences: splits, understands, identifies, answers. */
function row(name: string, keys: readonly string[], understand: Understand): Row {
  return {
    name,
    keys,
    handle(frame, session, context): Decoded<H02Session> {
      const sentence = sentenceOf(frame);
      const meaning = sentence && (sentence.id === "" || isId(sentence.id)) ? understand(sentence, context) : undefined;
      if (sentence === undefined || meaning === undefined)
        return { session, effects: [{ type: "failure", cause: "malformed" }] };
      return decoded(session, context, sentence, meaning);
    },
  };
}

/** A row whose sentences are one report, read from the first field behind the name. */
function reportRow(
  name: string,
  readReports: (sentence: Sentence, at: number, receivedAt: number) => Reports | ReadingsReport | undefined,
  confirm?: string,
): Row {
  return row(name, [name], (sentence, { receivedAt }) => {
    const read = readReports(sentence, bodyAt, receivedAt);
    return read && { effects: [read].flat().map(substance), ...(confirm !== undefined && { confirm }) };
  });
}

/** A report, or nothing to store where it holds nothing. */
function substance(report: Fix | ReadingsReport): Effect {
  const holds =
    report.type === "fix" ||
    report.alarms.length > 0 ||
    Object.keys(report.readings).length > 0 ||
    Object.keys(report.attributes).length > 0;
  return holds ? report : { type: "ignored", reason: "neither position nor readings" };
}

/**
 * V4 confirms a command: its name and what it was given or done, the command's time, and a position. (Protocol, 3;
 * SinoTrack Protocol, 2)
 */
function understandConfirmation(sentence: Sentence, context: DecodeContext): Meaning | undefined {
  const { fields } = sentence;
  const at = positionAt(fields);
  const text = fields.slice(bodyAt, at).join(",");
  if (text === "") return undefined;
  const failed = /(^|,)(ERROR|FAIL|NO)(,|$)/.test(text);
  const to = fields[bodyAt] ?? "";
  const result: CommandResult = {
    type: "commandResult",
    text,
    ...(to !== "" && { to }),
    ...(failed && { ok: false }),
  };
  const reports = at === undefined ? [] : readPosition(sentence, at, context.receivedAt);
  return reports && { effects: [...reports, result] };
}

/**
 * Where the position of a confirmation starts: the last place where a time, a validity and a hemisphere stand as they
 * must.
 */
function positionAt(fields: readonly string[]): number | undefined {
  for (let at = fields.length - positionWidth; at > bodyAt; at--)
    if (
      /^(\d{6})?$/.test(fields[at] ?? "") &&
      /^[ABV0]$/.test(fields[at + 1] ?? "") &&
      /^[NS0]$/.test(fields[at + 3] ?? "") &&
      /^[EW0]$/.test(fields[at + 5] ?? "")
    )
      return at;
  return undefined;
}

/** Heartbeats are answered with their own head; some carry the charge. */
function understandHeartbeat({ maker, id, name, fields }: Sentence): Meaning {
  return { effects: [chargeReport(fields[bodyAt])], echo: `*${maker},${id},${name}#` };
}

function chargeReport(text: string | undefined): Effect {
  const battery = integer.read([text ?? ""], 0);
  return battery === mismatch || battery > 100
    ? { type: "ignored", reason: "heartbeat" }
    : { type: "readings", alarms: [], readings: { battery }, attributes: {} };
}

/** The text that an SMS command would be answered with; its supply voltage is a reading. */
function understandText({ fields }: Sentence): Meaning {
  const text = fields.slice(bodyAt).join(",");
  const volts = decimal.read([/(?:^|\n)VOLT:([0-9.]+)V/.exec(text)?.[1] ?? ""], 0);
  const result: Effect = { type: "commandResult", text };
  if (volts === mismatch) return { effects: [result] };
  const report = draft();
  put(report, "externalVoltage", volts, "supplyVoltage");
  return { effects: [readingsOf(report), result] };
}

const dayPosition = grammar({
  // These sentences tell a place (A or B) from cells (V); other than in V1, a place of either kind counts.
  validity: oneOf({ A: true, B: true }),
  latitude,
  longitude,
  speed: orText(decimal),
  course: orText(decimal),
  date: ddmmyy,
});

const dayMs = 86_400_000;

/**
 * VP1: validity, position, speed (knots), course, ddmmyy; or V, mcc, mnc, then (area, cell, signal) of each cell,
 * joined by Y. (Communication Protocol V1.0.3)
 */
function understandDayPosition({ fields }: Sentence, { receivedAt }: DecodeContext): Meaning | undefined {
  if (fields[bodyAt] === "V") return cellReport(fields);
  const values = dayPosition.read(fields, bodyAt);
  if (values instanceof Mismatch) return undefined;
  // There is no time of day in it. Of today's reports their arrival is the best that is known, and keeps them in order.
  const time = receivedAt - values.date < dayMs && receivedAt >= values.date ? receivedAt : values.date;
  return { effects: [reportOf(values, time, true, { alarms: [], readings: {}, attributes: {} })] };
}

function cellReport(fields: readonly string[]): Meaning | undefined {
  const country = integer.read(fields, bodyAt + 1);
  const network = integer.read(fields, bodyAt + 2);
  const texts = fields
    .slice(bodyAt + 3)
    .join(",")
    .split("Y");
  if (
    country === mismatch ||
    network === mismatch ||
    !texts.every((text) => /^\d{1,15},\d{1,15},-?\d{1,9}$/.test(text))
  )
    return undefined;
  const cells = texts.map((text) => {
    const [lac, cellId, signal] = text.split(",").map(Number);
    return { mcc: country, mnc: network, lac, cellId, signal };
  });
  return { effects: [{ type: "readings", alarms: [], readings: {}, attributes: cellsOf(cells) }] };
}

/** A sentence that no row names, and whose fields are those of a position; anything else is not understood. */
function readOther(frame: Uint8Array, session: H02Session, context: DecodeContext): Decoded<H02Session> {
  const sentence = frame[0] === asterisk ? sentenceOf(frame) : undefined;
  const readable = sentence !== undefined && (sentence.id === "" || isId(sentence.id));
  const reports = readable ? readPosition(sentence, bodyAt, context.receivedAt) : undefined;
  if (!readable || reports?.every((report) => report.type === "fix") !== true)
    return { session, effects: [{ type: "failure", cause: "unsupported" }] };
  return decoded(session, context, sentence, { effects: reports });
}

const asterisk = 0x2a;

const nothing: Meaning = { effects: [{ type: "ignored", reason: "sentence without content" }] };

/** Every message, sentences first. */
export const rows: readonly Row[] = [
  reportRow("V1", readPosition, "V1"),
  // V2 and higher differ from V1 in when they are sent and what they add behind the status.
  { ...reportRow("V", readPosition), name: "V2 and higher" },
  row("V4", ["V4"], understandConfirmation),
  reportRow("V3", readV3),
  reportRow("NBR", readNbr, "NBR"),
  reportRow("LINK", readLink),
  reportRow("BASE", readBase),
  reportRow("BS", readBs),
  row("VP1", ["VP1"], understandDayPosition),
  row("VI1", ["VI1"], understandDayPosition),
  row("HTBT", ["HTBT", "V0"], understandHeartbeat),
  row("XT", ["XT"], ({ fields }) => ({ effects: [chargeReport(fields[bodyAt + 1])] })),
  row("SMS", ["SMS"], understandText),
  row("empty", [""], () => nothing),
  {
    name: "binary",
    keys: [5],
    handle: (frame, session, context) => handleBinary(frame, session, context, 5),
  },
  {
    name: "binary with IMEI",
    keys: [8],
    handle: (frame, session, context) => handleBinary(frame, session, context, 8),
  },
  {
    name: "X",
    keys: ["X"],
    handle: (_, session) => ({
      session,
      effects: [{ type: "ignored", reason: "X message, which no manual explains" }],
    }),
  },
  { name: "position of another name", handle: readOther },
];
