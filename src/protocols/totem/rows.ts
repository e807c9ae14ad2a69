import type { Effect } from "../../model/effects.ts";
import type { Decoded, MessageKey, MessageRow } from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { readFields, readFixed } from "./at03.ts";
import { readAvl } from "./avl.ts";
import { readData } from "./data.ts";
import { readAnswer, readHeartbeat, readObd, readRfid } from "./extra.ts";
import { answerStart } from "./framer.ts";
import { formOf, handler, type TotemSession } from "./sentence.ts";

const dollar = 0x24;
const letterU = 0x55;
const bar = 0x7c;
const letterE = 0x45;
/** Characters of time and date behind an alarm type. */
const timeLength = 12;

/**
 * Types of the counted form that are no standard data string; others that begin with E are pictures and what else the
 * models have.
 */
const kinds: ReadonlySet<string> = new Set(["BB", "CF"]);

/** What a frame is: a type, or one of the strings of the hex form. */
export function classify(frame: Uint8Array): MessageKey | undefined {
  if (frame[0] !== dollar) return isAnswer(frame) ? "answer" : undefined;
  if (frame[1] === letterU) return "picture";
  if (frame[1] !== dollar) return undefined;
  if (formOf(frame) === "counted") {
    const kind = latin1Of(frame.subarray(6, 8));
    return kinds.has(kind) || frame[6] === letterE ? kind : "data";
  }
  const first = frame.indexOf(bar);
  const second = frame.indexOf(bar, first + 1);
  if (first < 0) return undefined;
  if (second < 0) return "fixed";
  return second - first === 1 + 2 + timeLength ? "fields" : "avl";
}

function isAnswer(frame: Uint8Array): boolean {
  return latin1Of(frame.subarray(0, answerStart.length)) === answerStart;
}

/** `Receive:'025'OK`, a line end and the command; or `Receive:Set Err`. */
function readReceive(frame: Uint8Array): readonly Effect[] {
  const text = latin1Of(frame).replaceAll(/\s+/g, " ").trim();
  const [, number] = /^Receive:'(\d{3})'OK\b/.exec(text) ?? [];
  if (number !== undefined) return [{ type: "commandResult", text, to: number, ok: true }];
  const [, refused] = /^Receive:Set Err \*[^,]*,(\d{3})\b/.exec(text) ?? [];
  return [{ type: "commandResult", text, ok: false, ...(refused !== undefined && { to: refused }) }];
}

/** `$U`, IMEI, numbers of the picture, of all parts and of this one, bytes in hex, `#`. The bytes are not kept. */
function readPicture(frame: Uint8Array, session: TotemSession): Decoded<TotemSession> {
  const [, imei] = /^\$U(\d{15})\d{11}/.exec(latin1Of(frame.subarray(0, 28))) ?? [];
  if (imei === undefined) return { session, effects: [{ type: "failure", cause: "malformed" }] };
  const ignored: Effect = { type: "ignored", reason: "part of a picture" };
  if (imei === session.id) return { session, effects: [ignored] };
  return { session: { ...session, id: imei }, effects: [{ type: "identify", ids: [imei] }, ignored] };
}

/** All messages. */
export const rows: readonly MessageRow<TotemSession>[] = [
  { name: "standard data string (AT05, AT07, AT09)", keys: ["data"], handle: handler(readData) },
  { name: "E2, RFID or iButton", keys: ["E2"], handle: handler(readRfid) },
  { name: "E5, OBD", keys: ["E5"], handle: handler(readObd) },
  { name: "BB, heartbeat", keys: ["BB"], handle: handler(readHeartbeat) },
  { name: "CF, answer to a command", keys: ["CF"], handle: handler(readAnswer) },
  { name: "GPRMC with fields (AVL)", keys: ["avl"], handle: handler(readAvl) },
  { name: "position with fields (AT03)", keys: ["fields"], handle: handler(readFields) },
  { name: "position without delimiters (AT03)", keys: ["fixed"], handle: handler(readFixed) },
  {
    name: "Receive, answer to a command (AVL)",
    keys: ["answer"],
    handle: (frame, session) => ({ session: { ...session, form: "hex" }, effects: readReceive(frame) }),
  },
  { name: "part of a picture (AVL)", keys: ["picture"], handle: readPicture },
];
