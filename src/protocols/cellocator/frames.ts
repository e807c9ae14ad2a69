import { sumOf } from "../../wire/checksums.ts";
import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";

/** `MCG`; the fourth byte of the system code is `P` over IP. */
const system = [0x4d, 0x43, 0x47] as const;
const overIp = 0x50;

/** Types of messages of the unit. */
export const types = { status: 0, programming: 3, logged: 7, forwarded: 8, modular: 9, extended: 11 } as const;
/** Type of the server's acknowledgement. */
const acknowledgement = 4;

/** Longest message: modules or forwarded data. */
const maximum = 4096;

/** An opened message. */
export interface Message {
  readonly type: number;
  /** Number of the unit. */
  readonly id: number;
  /** The communication control field, its first byte the lowest; 0 where the type has none. */
  readonly control: number;
  /** Number of the message. */
  readonly number: number;
  /** What stands behind the number, without the checksum. */
  readonly body: Reader;
  readonly sound: boolean;
}

/** A length of one byte or two at a place, and what stands around it; undefined: it has not come yet. */
function around(bytes: Uint8Array, at: number, size: 1 | 2, rest: number): number | undefined {
  if (at + size > bytes.length) return undefined;
  return rest + (bytes[at] ?? 0) + (size === 1 ? 0 : (bytes[at + 1] ?? 0) << 8);
}

/** Bytes of a message; undefined: further ones are needed to say. 0: it is none. */
function lengthOf(bytes: Uint8Array, offset: number): number | undefined {
  switch (bytes[offset + 4]) {
    case undefined:
      return undefined;
    case types.status:
    case types.logged:
      return 70;
    case types.programming:
      return 31;
    case types.forwarded:
      return around(bytes, offset + 16, 2, 19);
    case types.modular:
      return around(bytes, offset + 13, 1, 15);
    case types.extended:
      return around(bytes, offset + 13, 2, 16);
    default:
      return 0;
  }
}

/** The fourth byte of the system code is another than `P`. */
export function isVariant(bytes: Uint8Array): boolean {
  return bytes[3] !== overIp;
}

/** Undefined: no whole message. */
export function open(bytes: Uint8Array): Message | undefined {
  if (system.some((byte, index) => bytes[index] !== byte)) return undefined;
  const length = lengthOf(bytes, 0);
  if (length === undefined || length === 0 || length > bytes.length) return undefined;
  const reader = new Reader(bytes, 0, length - 1);
  reader.skip(4);
  const [type, id] = [reader.u8(), reader.u32le()];
  const control = type === types.forwarded ? 0 : reader.u16le();
  const sound = (sumOf(bytes, 4, length - 1) & 0xff) === bytes[length - 1];
  return { type, id, control, number: reader.u8(), body: reader, sound };
}

/** A message of the server. */
export function seal(type: number, id: number, content: Uint8Array): Uint8Array {
  const writer = new Writer(40)
    .raw(Uint8Array.of(...system, overIp))
    .u8(type)
    .u32le(id)
    .raw(content);
  return writer.u8(sumOf(writer.done(), 4) & 0xff).done();
}

/**
 * Acknowledges a message: the number of the command, authentication, action, the message's number, what is reserved.
 */
export function acknowledge({ type, id, number }: Message): Uint8Array {
  if (type !== types.extended)
    return seal(acknowledgement, id, new Writer(18).u8(0).u32le(0).u8(0).u8(number).raw(new Uint8Array(11)).done());
  // Module 9 of 3 bytes: acknowledged.
  const modules = new Writer(12).u16le(10).u32le(0).u8(9).u16le(3).u8(0).u16le(0);
  return seal(type, id, new Writer(24).u8(number).u32le(0).u8(0x80).raw(modules.done()).done());
}

function next(buffer: Uint8Array, offset: number): Framing {
  const waiting = buffer.length - offset;
  if (waiting === 0) return more;
  for (let index = 0; index < Math.min(system.length, waiting); index++)
    if (buffer[offset + index] !== system[index]) return skip(junkLength(buffer, offset), "between messages");
  const length = lengthOf(buffer, offset);
  if (length === undefined) return more;
  if (length === 0 || length > maximum)
    return skip(junkLength(buffer, offset), "no message of a known type and length");
  return waiting < length ? { type: "more", length } : frame(offset, offset + length);
}

function junkLength(buffer: Uint8Array, offset: number): number {
  const at = buffer.indexOf(system[0], offset + 1);
  return (at < 0 ? buffer.length : at) - offset;
}

/** Cuts messages by the lengths of their types. */
export const framer: Framer = { maximum, next };

/** The system code and a known type. */
export function detect(bytes: Uint8Array): Certainty {
  if (bytes.length === 0) return "maybe";
  for (let index = 0; index < Math.min(system.length, bytes.length); index++)
    if (bytes[index] !== system[index]) return "no";
  if (bytes.length < 5) return "maybe";
  return Object.values(types).some((type) => type === bytes[4]) ? "sure" : "no";
}
