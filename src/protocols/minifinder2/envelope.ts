import { crc16Xmodem } from "../../wire/checksums.ts";
import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import { latin1Of, u16leAt } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";

const header = 0xab;
/** Header, properties, length, checksum, sequence ID: what stands in front of the body. */
export const headLength = 8;
/** Longest message: a history of some hundred reports. */
const maximum = 16_384;

/** Commands, the first byte of a body (EV-07B 1.2, 3). */
export const command = {
  data: 0x01,
  configuration: 0x02,
  services: 0x03,
  system: 0x04,
  firmware: 0x7e,
  response: 0x7f,
} as const;

/** All commands. */
export const commands: ReadonlySet<number> = new Set(Object.values(command));

/** Cuts messages by their length. */
export const framer: Framer = { maximum, next };

function next(buffer: Uint8Array, offset: number): Framing {
  const waiting = buffer.length - offset;
  if (buffer[offset] !== header) {
    const start = buffer.indexOf(header, offset);
    return skip((start < 0 ? buffer.length : start) - offset, "between messages");
  }
  if (waiting < headLength + 1) return more;
  const length = headLength + u16leAt(buffer, offset + 2);
  if (length === headLength || length > maximum) return skip(1, "a length that no message has");
  if (!commands.has(buffer[offset + headLength] ?? 0)) return skip(1, "no such command");
  return waiting < length ? { type: "more", length } : frame(offset, offset + length);
}

/** The command of a whole frame; undefined: it is none. */
export function commandOf(bytes: Uint8Array): number | undefined {
  const first = bytes[headLength] ?? 0;
  const whole = bytes[0] === header && bytes.length === headLength + u16leAt(bytes, 2);
  return whole && commands.has(first) ? first : undefined;
}

/** Whether the checksum of the body is right. The sequence ID in front of it is not summed. */
export function isSummed(bytes: Uint8Array): boolean {
  return crc16Xmodem(bytes, headLength) === u16leAt(bytes, 4);
}

/** The sequence ID, which an answer repeats. */
export function sequenceOf(bytes: Uint8Array): number {
  return u16leAt(bytes, 6);
}

/** Bit 4 of the properties: the device wants an answer. */
export function wantsAnswer(bytes: Uint8Array): boolean {
  return ((bytes[1] ?? 0) & 0x10) !== 0;
}

/** A key and where its value stands. */
export interface Item {
  readonly key: number;
  readonly from: number;
  readonly to: number;
}

/** The keys of a body: each behind a byte that counts it and its value. One that goes beyond the message ends them. */
export function itemsOf(bytes: Uint8Array): readonly Item[] {
  const items: Item[] = [];
  let at = headLength + 1;
  while (at + 1 < bytes.length) {
    const to = at + 1 + (bytes[at] ?? 0);
    if (to > bytes.length) break;
    if (to > at + 1) items.push({ key: bytes[at + 1] ?? 0, from: at + 2, to });
    at = to;
  }
  return items;
}

/** The IMEI under a key; undefined: there is none. */
export function imeiOf(bytes: Uint8Array, items: readonly Item[], key: number): string | undefined {
  const item = items.find((each) => each.key === key);
  const text = item === undefined ? "" : latin1Of(bytes.subarray(item.from, item.to));
  return /^\d{15}$/.test(text) ? text : undefined;
}

/** A message of the given body. */
export function seal(body: Uint8Array, sequence: number, properties = 0): Uint8Array {
  const head = new Writer(headLength + body.length).u8(header).u8(properties).u16le(body.length);
  return head.u16le(crc16Xmodem(body)).u16le(sequence).raw(body).done();
}
