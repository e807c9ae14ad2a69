import type { Effect } from "../../model/effects.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import { latin1Of, type Reader } from "../../wire/reader.ts";
import { draft, readingsOf } from "../../wire/report.ts";
import { codesText } from "./obd.ts";
import { handler, keyOf, type Read, row, type Session } from "./row.ts";
import { readPositions, readStatus, reportsOf } from "./status.ts";

/** Answers with a row of their own. */
const settingsAnswer = 0xa001;
const queryAnswer = 0xa002;
const placeAnswer = 0xb001;
const known: ReadonlySet<number> = new Set([
  keyOf("SC", settingsAnswer),
  keyOf("SC", queryAnswer),
  keyOf("SC", placeAnswer),
]);

/** Key of the answers that have none. */
const anyAnswer = "answer";
/** Tag of the vehicle identification number. */
const vin = 0x2001;

/** The key of a message: that of its family and type, where no row of answers takes it. */
export function answerKey(key: number): number | string {
  return (key & 0x8000) !== 0 && !known.has(key) ? anyAnswer : key;
}

/** What an answer calls its command: its own type, which follows from that of the command. */
export function answerName(type: number): string {
  return type.toString(16).padStart(4, "0");
}

/** Number, how many answers there are and which this is, tags that failed. */
function readFailed(body: Reader): readonly number[] {
  body.skip(4);
  const failed: number[] = [];
  for (let left = body.u8(); left > 0; left--) failed.push(body.u16le());
  return failed;
}

function result(type: number, texts: readonly string[], failed: readonly number[]): Effect {
  const text = [...texts, ...(failed.length > 0 ? [`failed ${codesText(failed)}`] : [])].join("; ");
  return { type: "commandResult", text, to: answerName(type), ok: failed.length === 0 };
}

/** 0xA001: the tags that failed, the tags that were set. */
const settings: Read = ({ body, type }) => {
  const failed = readFailed(body);
  const done: number[] = [];
  for (let left = body.u8(); left > 0; left--) done.push(body.u16le());
  return [result(type, done.length > 0 ? [`set ${codesText(done)}`] : [], failed)];
};

/** 0xA002: the tags that failed, and of the others each with its length and value. */
const query: Read = ({ body, type }) => {
  const failed = readFailed(body);
  const effects: Effect[] = [];
  const values: (readonly [tag: number, text: string])[] = [];
  for (let left = body.u8(); left > 0; left--) {
    const tag = body.u16le();
    const text = textOrHex(body.take(body.u16le()));
    values.push([tag, text]);
    if (tag !== vin || text === "") continue;
    const report = draft();
    report.readings.vin = text;
    effects.push(readingsOf(report));
  }
  const texts = values.map(([tag, text]) => (values.length === 1 ? text : `${codesText([tag])}=${text}`));
  return [...effects, result(type, texts, failed)];
};

/** Text without the zeros behind it, where it is printable. */
function textOrHex(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const text = latin1Of(end < 0 ? bytes : bytes.subarray(0, end));
  return /^[ -~]+$/.test(text) ? text.trim() : bytes.toHex();
}

/** 0xB001: number, status and positions. */
const place: Read = ({ body, type }) => {
  body.skip(2);
  const status = readStatus(body);
  return [...reportsOf(status, readPositions(body)), result(type, ["current location"], [])];
};

/** Another answer: its type and content, in the form of the command. */
const other: Read = ({ body, type }) => {
  const content = body.hex(body.remaining);
  const text = content === "" ? answerName(type) : `${answerName(type)},${content}`;
  return [{ type: "commandResult", text, to: answerName(type) }];
};

/** Answers to messages of the server. */
export const answerRows: readonly MessageRow<Session>[] = [
  row("SC 0xA001 settings were set", "SC", [settingsAnswer], settings),
  row("SC 0xA002 settings that were asked for", "SC", [queryAnswer], query),
  row("SC 0xB001 current location", "SC", [placeAnswer], place),
  { name: "another answer", keys: [anyAnswer], handle: handler(other) },
];
