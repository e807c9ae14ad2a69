import type { FailureCause } from "../../model/effects.ts";
import { crc16Arc } from "../../wire/checksums.ts";
import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty, MessageKey, Transport } from "../../wire/protocol.ts";

/** Preamble, length and CRC around the data field. */
const envelope = 12;
/** Codec id and the two counts. */
const shortestData = 3;
/**
 * The manual's packets have at most 1,280 bytes, a camera's 2 KiB; a byte counts at most 255 records of about 255
 * bytes.
 */
const longestData = 0xffff;
/** An IMEI has 15 digits; a little more for what old firmware sends. */
const longestLogin = 32;

const keepAlive = 0xff;
/**
 * Keep-alives that may come before anything else: a tracker sends one a second at most (its setting counts whole
 * seconds), and has a minute to log in.
 */
const leadingKeepAlives = 60;

/** Letters and digits: what an IMEI or another identifier of a device consists of. */
function isIdentifier(bytes: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0;
    if (!((byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a)))
      return false;
  }
  return true;
}

function u16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

function u32(bytes: Uint8Array, at: number): number {
  return u16(bytes, at) * 0x10000 + u16(bytes, at + 2);
}

/** Passes over what can't begin a message, up to the next byte that can. */
function junk(buffer: Uint8Array, offset: number): Framing {
  let end = offset + 1;
  while (end < buffer.length && buffer[end] !== 0 && buffer[end] !== keepAlive) end++;
  return skip(end - offset, "noStart");
}

/**
 * Over TCP: a keep-alive byte 0xFF; an IMEI after its length of two bytes; or four zero bytes, a length of four and a
 * data field with its CRC.
 */
function next(buffer: Uint8Array, offset: number): Framing {
  const available = buffer.length - offset;
  if (available === 0) return more;
  const first = buffer[offset];
  if (first === keepAlive) return frame(offset, offset + 1);
  if (first !== 0) return junk(buffer, offset);
  if (available < 2) return more;
  const login = buffer[offset + 1] ?? 0;
  if (login > 0) {
    if (login > longestLogin) return junk(buffer, offset);
    const end = offset + 2 + login;
    if (!isIdentifier(buffer, offset + 2, Math.min(end, buffer.length))) return junk(buffer, offset);
    return end <= buffer.length ? frame(offset, end) : more;
  }
  if (available < 8) return more;
  const length = u32(buffer, offset + 4);
  if (u32(buffer, offset) !== 0 || length < shortestData || length > longestData) return junk(buffer, offset);
  const end = offset + envelope + length;
  return end <= buffer.length ? frame(offset, end) : more;
}

/** Cuts keep-alive bytes, logins and data packets out of a stream. */
export const framer: Framer = { maximum: envelope + longestData, next };

/** Keys: "ping", "login", "datagram", or the codec id of a data packet. */
export function classify(message: Uint8Array): MessageKey | undefined {
  if (message.length === 1 && message[0] === keepAlive) return "ping";
  if (message.length >= envelope + shortestData && u32(message, 0) === 0) return message[8];
  const whole = message.length > 2 && u16(message, 0) === message.length - 2;
  if (whole && message.length - 2 <= longestLogin && isIdentifier(message, 2, message.length)) return "login";
  return datagramHeader(message) === undefined ? undefined : "datagram";
}

/** What is wrong with a data packet: its length or its CRC ("CRC-16" of the manual); undefined where it is whole. */
export function defect(packet: Uint8Array): FailureCause | undefined {
  const length = u32(packet, 4);
  if (length + envelope !== packet.length || length < shortestData) return "malformed";
  const end = packet.length - 4;
  return crc16Arc(packet, 8, end) === u32(packet, end) ? undefined : "badChecksum";
}

/**
 * The header of a datagram ("UDP channel protocol"); undefined where it has none. Its length field says what the
 * datagram tells itself, and is wrong even in the manual's example, so it is not asked: the records must fill the
 * datagram.
 */
export function datagramHeader(
  datagram: Uint8Array,
):
  | { readonly packetId: number; readonly avlPacketId: number; readonly imei: Uint8Array; readonly data: number }
  | undefined {
  const data = 8 + u16(datagram, 6);
  if (data + shortestData > datagram.length) return undefined;
  if (data === 8 || data - 8 > longestLogin || !isIdentifier(datagram, 8, data)) return undefined;
  return { packetId: u16(datagram, 2), avlPacketId: datagram[5] ?? 0, imei: datagram.subarray(8, data), data };
}

const codecs: ReadonlySet<number> = new Set([0x07, 0x08, 0x8e, 0x10, 0x0c, 0x0d, 0x0e, 0x0f]);

/**
 * A login is sure after its first digits (another protocol's zero and length would have to be followed by digits too).
 */
export function detect(bytes: Uint8Array, transport: Transport): Certainty {
  if (transport === "udp") {
    const header = datagramHeader(bytes);
    if (header === undefined || !codecs.has(bytes[header.data] ?? 0)) return "no";
    return u16(bytes, 0) === bytes.length - 2 ? "sure" : "maybe";
  }
  let start = 0;
  while (bytes[start] === keepAlive) start++;
  if (start > leadingKeepAlives) return "no";
  if (start === bytes.length) return bytes.length > 0 ? "maybe" : "no";
  if (bytes[start] !== 0) return "no";
  const length = bytes[start + 1];
  if (length === undefined) return "maybe";
  if (length === 0) return detectPacket(bytes, start);
  if (length > longestLogin) return "no";
  const end = Math.min(bytes.length, start + 2 + length);
  if (!isIdentifier(bytes, start + 2, end)) return "no";
  return end - start >= 2 + Math.min(length, 8) ? "sure" : "maybe";
}

/** A connection may also begin with a data packet, where a tracker goes on as if it were logged in. */
function detectPacket(bytes: Uint8Array, start: number): Certainty {
  for (let index = start + 2; index < Math.min(bytes.length, start + 4); index++) if (bytes[index] !== 0) return "no";
  if (bytes.length < start + 9) return "maybe";
  return u32(bytes, start + 4) <= longestData && codecs.has(bytes[start + 8] ?? 0) ? "sure" : "no";
}
