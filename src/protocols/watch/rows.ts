import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded, MessageKey, MessageRow } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { draft, readingsOrNothing } from "../../wire/report.ts";
import { bodyOf, comma, fieldsOf, hasCommas, type Message, messageOf, nameOf, wrapped } from "./envelope.ts";
import { readBlood, readBodyTemperature, readHeart, readOxygen, readTemperature } from "./health.ts";
import { numeric, positionCommas, readPosition } from "./position.ts";

/** What a connection said before. */
export interface WatchSession {
  /** Identifier of its last message; undefined: none had one. */
  readonly id: string | undefined;
  readonly maker: string;
  /** Its messages are numbered. */
  readonly indexed: boolean;
}

/** A connection of which nothing is known. */
export const initialSession: WatchSession = Object.freeze({ id: undefined, maker: "CS", indexed: false });

type Row = MessageRow<WatchSession>;

/** What a message says, and the content of the reply. */
interface Meaning {
  readonly effects: readonly Effect[];
  readonly reply?: string;
}

const malformed: Meaning = { effects: [{ type: "failure", cause: "malformed" }] };

/**
 * The key of a frame: the message's name in capitals; of the kinds of `UD` and `AL` (`UD_LTE`, `AL_LTE`), which makers
 * extend, their first letters.
 */
export function classify(frame: Uint8Array): MessageKey | undefined {
  const body = bodyOf(frame);
  if (body === undefined || body.length === 0 || body[0] === comma) return undefined;
  const name = nameOf(body).toUpperCase();
  if (hasCommas(body, positionCommas)) {
    if (name.startsWith("UD2")) return "UD2";
    if (name.startsWith("UD")) return "UD";
    if (name.startsWith("AL")) return "AL";
  }
  return name;
}

function row(name: string, keys: readonly string[], read: (message: Message) => Meaning, when?: Row["when"]): Row {
  return {
    name,
    keys,
    ...(when !== undefined && { when }),
    handle: (frame, session, context) => decoded(frame, session, context, read),
  };
}

/**
 * The message's meaning with the sender's identifier before it and the reply behind it: after storing, where there is
 * anything to store.
 */
function decoded(
  frame: Uint8Array,
  session: WatchSession,
  { identified }: DecodeContext,
  read: (message: Message) => Meaning,
): Decoded<WatchSession> {
  const message = messageOf(frame);
  if (message === undefined) return { session, effects: malformed.effects };
  const { effects: meant, reply } = read(message);
  if (meant.some((effect) => effect.type === "failure")) return { session, effects: meant };
  const { maker, id } = message;
  const indexed = message.index !== undefined;
  const same = id === session.id && maker === session.maker && indexed === session.indexed;
  const effects: Effect[] = id === session.id ? [] : [{ type: "identify", ids: [id] }];
  effects.push(...meant);
  if (reply !== undefined) {
    const stores = meant.some((effect) => effect.type === "fix" || effect.type === "readings");
    effects.push({
      type: "reply",
      bytes: bytesOfLatin1(wrapped(message, reply)),
      when: stores ? "stored" : "identified",
    });
  }
  if (effects.length === 0 && identified) effects.push({ type: "ignored", reason: "nothing to store" });
  return { session: same ? session : { id, maker, indexed }, effects };
}

/** A row of position data from `fields[at]` on (part I, 2 to 4). */
function positionRow(name: string, at: number, when?: Row["when"]): Row {
  return row(name, [name], (message) => position(message, at), when);
}

function position(message: Message, at: number, alarm = false): Meaning {
  const report = readPosition(fieldsOf(message), at, alarm);
  if (report === undefined) return malformed;
  const name = message.name.toUpperCase();
  const network = name.endsWith("_LTE") ? "4G" : name.endsWith("_WCDMA") ? "3G" : undefined;
  if (network === undefined && !name.startsWith("UD2")) return { effects: [report] };
  const readings = network === undefined ? report.readings : { ...report.readings, networkType: network };
  const attributes = name.startsWith("UD2") ? { ...report.attributes, archive: true } : report.attributes;
  return { effects: [{ ...report, readings, attributes }] };
}

/** A row of a measurement, which the server answers with its name and what the manual adds to that. */
function healthRow(
  name: string,
  keys: readonly string[],
  read: (fields: readonly string[]) => Effect,
  added = "",
): Row {
  return row(name, keys, (message) => ({
    effects: [read(fieldsOf(message))],
    reply: `${message.name}${added}`,
  }));
}

/** `LK,steps,rolls,battery` (part I, 1). */
function readLink(message: Message): Meaning {
  const fields = fieldsOf(message);
  const report = draft();
  numeric(report, fields[1], "steps", "pedometer");
  numeric(report, fields[2], "rolls", "tumblingTimes");
  numeric(report, fields[3], "battery", "powerStatus");
  return { effects: [readingsOrNothing(report, "heartbeat")], reply: "LK" };
}

/** `CONFIG,TY:G75,UL:600,SY:1`: the type, the interval in seconds and what the watch can do (part I, 5). */
function readConfig(message: Message): Meaning {
  const report = draft();
  const text = rest(message);
  if (text !== "") report.attributes.config = text;
  return { effects: [readingsOrNothing(report, "empty configuration")], reply: "CONFIG,1" };
}

function readIccid(message: Message): Meaning {
  const report = draft();
  const number = rest(message);
  if (number !== "") report.readings.iccid = number;
  return { effects: [readingsOrNothing(report, "no SIM card")] };
}

/** What stands behind the name. */
function rest(message: Message): string {
  return latin1Of(message.body.subarray(message.name.length + 1));
}

/** An answer to a command is its name and, of some, a result: 1 is success and 0 failure for those of the set. */
function readAnswer(message: Message): Meaning {
  const to = message.name.toUpperCase();
  const text = latin1Of(message.body);
  const result = rest(message);
  const ok = withStatus.has(to) && (result === "1" || result === "0") ? result === "1" : undefined;
  return { effects: [{ type: "commandResult", text, to, ...(ok !== undefined && { ok }) }] };
}

const withStatus: ReadonlySet<string> = new Set(["TK", "PHBX", "PHBX2", "TAKEPILLS"]);

/**
 * A number behind `TK` is the answer to a voice message; a voice message itself begins with the head of an AMR file.
 */
function isVoice(frame: Uint8Array): boolean {
  const message = messageOf(frame);
  return message !== undefined && message.body.length > message.name.length && !/^\d{0,3}$/.test(head(message));
}

function head(message: Message): string {
  return latin1Of(message.body.subarray(message.name.length + 1, message.name.length + 5));
}

function commas(count: number): NonNullable<Row["when"]> {
  return (frame) => {
    const body = bodyOf(frame);
    return body !== undefined && hasCommas(body, count);
  };
}

/** Whether position data stand behind a name that no row has. */
function isPosition(frame: Uint8Array): boolean {
  const message = messageOf(frame);
  if (message === undefined || !hasCommas(message.body, positionCommas)) return false;
  return /^\d{6},\d{6},[AV],/.test(latin1Of(message.body.subarray(message.name.length + 1, message.name.length + 17)));
}

const voice: Effect = { type: "ignored", reason: "a voice message" };

/**
 * Every message of a watch. Voice messages and photos are not kept; they are acknowledged so that the watch does not
 * send them for ever.
 */
export const rows: readonly Row[] = [
  positionRow("UD", 1),
  positionRow("UD2", 1),
  row("AL", ["AL"], (message) => ({ ...position(message, 1, true), reply: "AL" })),
  row("LK with steps and battery", ["LK"], readLink, commas(3)),
  row("LK", ["LK"], () => ({ effects: [], reply: "LK" })),
  positionRow("WAD", 2, commas(positionCommas)),
  positionRow("WG", 1, commas(positionCommas)),
  positionRow("PP", 2, commas(positionCommas)),
  row("CONFIG", ["CONFIG"], readConfig),
  row("INIT", ["INIT"], () => ({ effects: [], reply: "INIT,1" })),
  row("ICCID", ["ICCID"], readIccid),
  healthRow("heart", ["HEART", "PULSE"], readHeart),
  healthRow("bphrt", ["BPHRT", "BLOOD"], readBlood),
  healthRow("oxygen", ["OXYGEN"], readOxygen, ",1"),
  healthRow("TEMP", ["TEMP"], readTemperature),
  healthRow("btemp2", ["BTEMP2"], readBodyTemperature),
  row("TKQ", ["TKQ", "TKQ2"], (message) => ({ effects: [], reply: message.name })),
  row("TK", ["TK", "TK2"], (message) => ({ effects: [voice], reply: `${message.name},1` }), isVoice),
  row("JXTK", ["JXTK"], () => ({ effects: [voice], reply: "JXTKR,1" }), commas(5)),
  row("img", ["IMG"], () => ({ effects: [{ type: "ignored", reason: "a photo" }] }), commas(3)),
  { ...unnamed("position of another name", (message) => position(message, 1)), when: isPosition },
  unnamed("answer to a command", readAnswer),
];

function unnamed(name: string, read: (message: Message) => Meaning): Row {
  return { name, handle: (frame, session, context) => decoded(frame, session, context, read) };
}
