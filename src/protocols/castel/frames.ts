import { crc16X25 } from "../../wire/checksums.ts";
import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";
import { latin1Of, Reader, u16leAt } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";

const at = 0x40;
const dollar = 0x24;
/** Bytes of the identifier, filled with zeros. */
const idLength = 20;
/** Checksum and line end. */
const tailLength = 4;
/** A frame of `$$` without content. */
const shortest = 2 + 2 + idLength + 2 + tailLength;
/** Longest frame: trackers send up to 1 KiB. */
const maximum = 2048;

/**
 * Which manual a frame follows: of OBD trackers (versions 3 and 4), of the other trackers with a version, of those
 * without.
 */
export type Family = "SC" | "CC" | "MPIP";

/** An opened frame. */
export interface Message {
  readonly family: Family;
  /** Undefined: the frame begins with `$$` and has none. */
  readonly version: number | undefined;
  readonly id: string;
  /** The identifier as it came, for the reply. */
  readonly idBytes: Uint8Array;
  readonly type: number;
  readonly body: Reader;
  /** Its checksum is right. */
  readonly sound: boolean;
}

function familyOf(version: number | undefined): Family {
  if (version === undefined) return "MPIP";
  return version === 3 || version === 4 ? "SC" : "CC";
}

/** What a frame is; undefined: it is none. */
export function headOf(bytes: Uint8Array): Pick<Message, "family" | "version" | "type"> | undefined {
  if (bytes[0] !== bytes[1] || (bytes[0] !== at && bytes[0] !== dollar)) return undefined;
  const version = bytes[0] === at ? bytes[4] : undefined;
  const content = contentOf(version);
  const type = ((bytes[content - 2] ?? 0) << 8) | (bytes[content - 1] ?? 0);
  return { family: familyOf(version), version, type };
}

/** Where the content begins. */
function contentOf(version: number | undefined): number {
  return (version === undefined ? 4 : 5) + idLength + 2;
}

/**
 * Undefined: no whole frame, or none that says who it is from. What follows the length that a frame gives is no part of
 * it.
 */
export function open(bytes: Uint8Array): Message | undefined {
  const head = headOf(bytes);
  const length = u16leAt(bytes, 2);
  const content = contentOf(head?.version);
  if (head === undefined || length > bytes.length || length < content + tailLength) return undefined;
  const idBytes = bytes.subarray(content - 2 - idLength, content - 2);
  const end = idBytes.indexOf(0);
  const id = latin1Of(end < 0 ? idBytes : idBytes.subarray(0, end)).trim();
  if (!/^[!-~]{1,20}$/.test(id)) return undefined;
  const stop = length - tailLength;
  const sound = crc16X25(bytes, 0, stop) === u16leAt(bytes, stop);
  return { ...head, id, idBytes, body: new Reader(bytes, content, stop), sound };
}

const nothing = new Uint8Array(0);

/** A frame with `@@`. Without a version it stands as MPIP trackers get it. */
export function seal(
  version: number | undefined,
  idBytes: Uint8Array,
  type: number,
  content: Uint8Array = nothing,
): Uint8Array {
  const length = shortest + (version === undefined ? 0 : 1) + content.length;
  const writer = new Writer(length).u8(at).u8(at).u16le(length);
  if (version !== undefined) writer.u8(version);
  writer.raw(idBytes).u16(type).raw(content);
  return writer.u16le(crc16X25(writer.done())).u16(0x0d0a).done();
}

/** The bytes of an identifier; undefined where it does not fit. */
export function idBytesOf(id: string): Uint8Array | undefined {
  if (!/^[!-~]{1,20}$/.test(id)) return undefined;
  return new Writer(idLength).latin1(id.padEnd(idLength, "\0")).done();
}

function next(buffer: Uint8Array, offset: number): Framing {
  const waiting = buffer.length - offset;
  if (waiting === 0) return more;
  const head = buffer[offset];
  if (head !== at && head !== dollar) return skip(junkLength(buffer, offset), "between messages");
  if (waiting >= 2 && buffer[offset + 1] !== head) return skip(1, "between messages");
  if (waiting < 4) return more;
  const length = u16leAt(buffer, offset + 2);
  if (length < shortest || length > maximum) return skip(2, "a length that no message has");
  if (waiting < length) return { type: "more", length };
  const end = offset + length;
  if (buffer[end - 2] !== 0x0d || buffer[end - 1] !== 0x0a) return skip(2, "no line end where its length says");
  return frame(offset, end);
}

function junkLength(buffer: Uint8Array, offset: number): number {
  let end = offset + 1;
  while (end < buffer.length && buffer[end] !== at && buffer[end] !== dollar) end++;
  return end - offset;
}

/** Cuts frames by their length. */
export const framer: Framer = { maximum, next };

/** Letters, digits, hyphens and zeros behind them: what stands in an identifier. */
function isId(bytes: Uint8Array): boolean {
  const end = bytes.indexOf(0);
  const text = latin1Of(end < 0 ? bytes : bytes.subarray(0, end));
  return (
    /^[\w .:-]*$/.test(text) && (end !== 0 || bytes.length === 0) && bytes.subarray(text.length).every((b) => b === 0)
  );
}

/**
 * Two equal characters, a length below 2 KiB with the lowest byte first, a version below a blank after `@@`, an
 * identifier.
 */
export function detect(bytes: Uint8Array): Certainty {
  const [first, second = first, low = shortest, high = 0, version = 0] = bytes;
  if ((first !== at && first !== dollar) || second !== first) return "no";
  const length = low | (high << 8);
  if (bytes.length >= 4 && (length < shortest || length > maximum)) return "no";
  const start = first === at ? 5 : 4;
  if (start === 5 && version > 0x1f) return "no";
  const id = bytes.subarray(start, start + idLength);
  if (!isId(id)) return "no";
  return id.length >= 8 ? "sure" : "maybe";
}
