import { crc16Modbus } from "../../wire/checksums.ts";
import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";
import { u16leAt } from "../../wire/reader.ts";
import { isTag } from "./tags.ts";

/** Headers of packets: data (of the terminal, or of Iridium's gateway), a part of a photo, compressed data. */
export const data = 0x01;
export const photo = 0x07;
export const compressed = 0x08;

/** Header, length, checksum. */
const envelope = 5;
/** The highest bit of a length says that further records wait in the terminal. */
const lengthMask = 0x7fff;
/** A message of Iridium has at most 1,960 bytes, with its head some more. */
const longestIridium = 4096;

/**
 * Iridium's gateway: protocol revision 1, the length, and an element 01 of 28 bytes. No packet of a terminal has a tag
 * 0x1C.
 */
export function isIridium(bytes: Uint8Array, offset = 0): boolean {
  return bytes[offset + 3] === 0x01 && bytes[offset + 4] === 0x00 && bytes[offset + 5] === 0x1c;
}

function isStart(byte: number | undefined): boolean {
  return byte === data || byte === photo || byte === compressed;
}

function junk(buffer: Uint8Array, offset: number): Framing {
  let end = offset + 1;
  while (end < buffer.length && !isStart(buffer[end])) end++;
  return skip(end - offset, "noStart");
}

function next(buffer: Uint8Array, offset: number): Framing {
  const available = buffer.length - offset;
  if (available === 0) return more;
  const header = buffer[offset];
  if (!isStart(header)) return junk(buffer, offset);
  if (available < 6) return more;
  if (header === data && isIridium(buffer, offset)) {
    const length = ((buffer[offset + 1] ?? 0) << 8) + (buffer[offset + 2] ?? 0) + 3;
    if (length > longestIridium) return junk(buffer, offset);
    return available < length ? { type: "more", length } : frame(offset, offset + length);
  }
  if (header === data && !isTag(buffer[offset + 3] ?? 0)) return junk(buffer, offset);
  const length = (u16leAt(buffer, offset + 1) & lengthMask) + envelope;
  if (length === envelope) return junk(buffer, offset);
  return available < length ? { type: "more", length } : frame(offset, offset + length);
}

/** Cuts packets by their length. */
export const framer: Framer = { maximum: lengthMask + envelope, next };

/** Whether a packet has the length that it says, and its checksum is right (CRC-16 of Modbus over all before it). */
export function defect(packet: Uint8Array): "malformed" | "badChecksum" | undefined {
  if (packet.length < envelope || (u16leAt(packet, 1) & lengthMask) + envelope !== packet.length) return "malformed";
  const end = packet.length - 2;
  return crc16Modbus(packet, 0, end) === u16leAt(packet, end) ? undefined : "badChecksum";
}

/**
 * A connection begins with the head packet, whose tags stand in order: versions, the IMEI; or with Iridium's element.
 */
export function detect(bytes: Uint8Array): Certainty {
  if (bytes[0] !== data) return "no";
  if (bytes.length < 6) return bytes.length < 4 || isTag(bytes[3] ?? 0) ? "maybe" : "no";
  if (isIridium(bytes)) return "sure";
  let at = 3;
  while (bytes[at] === 0x01 || bytes[at] === 0x02) at += 2;
  if (at >= bytes.length) return "maybe";
  if (bytes[at] !== 0x03) return isTag(bytes[at] ?? 0) ? "maybe" : "no";
  const imei = bytes.subarray(at + 1, at + 16);
  if (!imei.every((byte) => byte >= 0x30 && byte <= 0x39)) return "no";
  return imei.length === 15 ? "sure" : "maybe";
}
