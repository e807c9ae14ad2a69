import type { Effect } from "../../model/effects.ts";
import type { CommandForm, ExpectedReply } from "../../wire/protocol.ts";
import { latin1Of, Reader } from "../../wire/reader.ts";
import { draft, fixOf } from "../../wire/report.ts";
import { mismatch, parseDecimal } from "../../wire/text.ts";
import { digitTime } from "../../wire/time.ts";
import { Writer } from "../../wire/writer.ts";
import { datagramHead, isDatagram, mark, packageHead, sequenceBytes } from "./framer.ts";
import { textOf } from "./old.ts";
import { datagramOf, type EelinkSession, type PackageRead, packageOf } from "./package.ts";

/** Identifier of the instruction package, and its type of a command. */
const instruction = 0x80;
const commandType = 0x01;
const longestText = 1000;

/**
 * A command of the manual as text: `RELAY,1#`, `STATUS#`, with a number that the answer repeats. (Device Protocol V2.0,
 * 5.13)
 */
export const command: CommandForm<EelinkSession> = {
  name: "instruction",
  encode(text, session, device, number) {
    if (!/^[!-~][ -~]*$/.test(text)) return { refused: "a command has printable ASCII characters only" };
    if (text.length > longestText) return { refused: `a command has at most ${longestText} characters` };
    const id = session.id ?? device;
    const sent = instructionOf(number, text);
    if (!session.datagrams) return sent;
    return /^\d{1,15}$/.test(id) ? datagramOf(id, sent) : { refused: "a datagram needs the tracker's IMEI" };
  },
};

/** An instruction, or its answer. */
export function instructionOf(number: number, text: string): Uint8Array {
  return packageOf(instruction, 0, new Writer(64).u8(commandType).u32(number).latin1(text).done());
}

/** Number and text of bytes that are an instruction; undefined: they are none. */
export function readCommand(bytes: Uint8Array): { readonly number: number; readonly text: string } | undefined {
  const at = isDatagram(bytes) ? datagramHead : 0;
  const content = at + packageHead + sequenceBytes;
  if (bytes[at] !== mark || bytes[at + 2] !== instruction || bytes[content] !== commandType) return undefined;
  if (bytes.length < content + 5) return undefined;
  const reader = new Reader(bytes, content + 1);
  return { number: reader.u32(), text: latin1Of(reader.take(reader.remaining)) };
}

/** The answer repeats the command's number. */
export function expects(bytes: Uint8Array): ExpectedReply {
  const sent = readCommand(bytes);
  return sent === undefined ? "nothing" : { name: String(sent.number) };
}

/** The answer to an instruction: its type, number, and text, which may tell where the tracker is. */
export function readInstruction(content: Reader): PackageRead {
  content.skip(1);
  const to = String(content.u32());
  const text = textOf(content);
  const place = placeOf(text);
  return { effects: [...(place === undefined ? [] : [place]), { type: "commandResult", text, to }] };
}

/** `Lat:N31.5,Lon:W82.5,Course:0.00,Speed:0.00km/h,DateTime:2026-02-03 10:15:30`, or each on a line of its own. */
function placeOf(text: string): Effect | undefined {
  const latitude = sided(textBehind(text, "Lat:"), "N", "S");
  const longitude = sided(textBehind(text, "Lon:"), "E", "W");
  const digits = (textBehind(text, "DateTime:") || textBehind(text, "Date Time:")).replaceAll(/[-: ]/g, "");
  const time = /^\d{14}$/.test(digits) ? digitTime(digits, 0, 14) : undefined;
  if (latitude === undefined || longitude === undefined || time === undefined) return undefined;
  const speed = bounded(textBehind(text, "Speed:").replace(/km\/h$/i, ""), 1e4);
  const course = bounded(textBehind(text, "Course:"), 360);
  return fixOf({ time, valid: true, latitude, longitude, speed, course }, draft());
}

/** What stands behind a name, to the next comma or line end. */
function textBehind(text: string, name: string): string {
  const at = text.indexOf(name);
  if (at < 0) return "";
  const from = at + name.length;
  const ends = [",", "\n"].map((end) => text.indexOf(end, from)).filter((end) => end >= 0);
  return text.slice(from, Math.min(text.length, ...ends)).trim();
}

function sided(text: string, positive: string, negative: string): number | undefined {
  const side = text[0];
  if (side !== positive && side !== negative) return undefined;
  const value = bounded(text.slice(1), 1000);
  return value === undefined || value === 0 || side === positive ? value : -value;
}

function bounded(text: string, most: number): number | undefined {
  const value = parseDecimal(text);
  return value === mismatch || value < 0 || value > most ? undefined : value;
}
