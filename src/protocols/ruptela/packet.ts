import { crc16Kermit } from "../../wire/checksums.ts";
import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty, MessageKey } from "../../wire/protocol.ts";
import { u16At } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";

/** IMEI and command. */
const leastLength = 9;
/** Packets have at most 1 KiB; those of cameras and tachographs a little more. */
const mostLength = 4096;
/** An IMEI of fifteen digits as a number of eight bytes begins with 00, then 0 to 3. */
const mostOfImei = 3;

/** Whether a packet can begin here, as far as the bytes say. */
function canBegin(buffer: Uint8Array, offset: number): boolean {
  const available = buffer.length - offset;
  if (available >= 1 && (buffer[offset] ?? 0) > mostLength >> 8) return false;
  if (available >= 2 && (u16At(buffer, offset) < leastLength || u16At(buffer, offset) > mostLength)) return false;
  if (available >= 3 && buffer[offset + 2] !== 0) return false;
  return available < 4 || (buffer[offset + 3] ?? 0) <= mostOfImei;
}

function next(buffer: Uint8Array, offset: number): Framing {
  if (!canBegin(buffer, offset)) {
    let at = offset + 1;
    while (at < buffer.length && !canBegin(buffer, at)) at++;
    return skip(at - offset, "no length and IMEI");
  }
  if (buffer.length - offset < 2) return more;
  const length = u16At(buffer, offset) + 4;
  return buffer.length - offset < length ? { type: "more", length } : frame(offset, offset + length);
}

/** Cuts by the length field: it counts neither itself nor the CRC. */
export const framer: Framer = Object.freeze({ maximum: mostLength + 4, next });

/** Whether the CRC-16/KERMIT from the IMEI on is that at the end. */
export function isSound(packet: Uint8Array): boolean {
  return crc16Kermit(packet, 2, packet.length - 2) === u16At(packet, packet.length - 2);
}

/** Sure once a whole packet with its CRC stands at the start. */
export function detect(bytes: Uint8Array): Certainty {
  if (!canBegin(bytes, 0)) return "no";
  const framing = next(bytes, 0);
  if (framing.type !== "frame") return "maybe";
  return isSound(bytes.subarray(framing.start, framing.stop)) ? "sure" : "maybe";
}

/** The key of a packet: its command. The framer has compared its length. */
export function classify(packet: Uint8Array): MessageKey | undefined {
  return packet.length < leastLength + 4 ? undefined : packet[10];
}

/** A packet of the server: length, command, content, CRC. */
export function serverPacket(command: number, content: Uint8Array): Uint8Array {
  const body = new Writer(content.length + 1).u8(command).raw(content).done();
  return new Writer(body.length + 4).u16(body.length).raw(body).u16(crc16Kermit(body)).done();
}

/** The acknowledgement of a command: its number and 100, and 1. */
export function acknowledgement(command: number): Uint8Array {
  return serverPacket(command + 100, Uint8Array.of(1));
}

/** A packet of a device. */
export function devicePacket(imei: string, command: number, content: Uint8Array): Uint8Array {
  const body = new Writer(content.length + 9).u64(Number(imei)).u8(command).raw(content).done();
  return new Writer(body.length + 4).u16(body.length).raw(body).u16(crc16Kermit(body)).done();
}
