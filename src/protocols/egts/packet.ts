import { crc8Nrsc5, crc16CcittFalse } from "../../wire/checksums.ts";
import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty, MessageKey } from "../../wire/protocol.ts";
import { u16leAt } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";

/** Header lengths: without and with the fields of a route. */
const shortHeader = 11;
const longHeader = 16;

/** Packet types: answer, application data, signed application data. */
export const response = 0;
export const appData = 1;
export const signedAppData = 2;

/** Data of a packet: two bytes of length less the longest header and the sum. */
const mostData = 65_517;

/** Whether a transport header can begin here, as far as the bytes say; whole, its checksum (CRC-8) must be right. */
function canBegin(buffer: Uint8Array, offset: number): boolean {
  const available = buffer.length - offset;
  if (available >= 1 && buffer[offset] !== 1) return false;
  if (available < 4) return true;
  const length = buffer[offset + 3] ?? 0;
  if (length !== shortHeader && length !== longHeader) return false;
  if (available >= 10 && (buffer[offset + 9] ?? 0) > signedAppData) return false;
  if (available < length) return true;
  if (u16leAt(buffer, offset + 5) > mostData) return false;
  return crc8Nrsc5(buffer, offset, offset + length - 1) === buffer[offset + length - 1];
}

function next(buffer: Uint8Array, offset: number): Framing {
  if (!canBegin(buffer, offset)) {
    let at = offset + 1;
    while (at < buffer.length && buffer[at] !== 1) at++;
    return skip(at - offset, "no transport header");
  }
  const available = buffer.length - offset;
  const header = available < 4 ? shortHeader : (buffer[offset + 3] ?? 0);
  if (available < header) return more;
  const data = u16leAt(buffer, offset + 5);
  const length = header + (data > 0 ? data + 2 : 0);
  return available < length ? { type: "more", length } : frame(offset, offset + length);
}

/** Cuts by the lengths of header and data, once the header's checksum is right. */
export const framer: Framer = Object.freeze({ maximum: longHeader + mostData + 2, next });

/** Sure once the header's checksum is right. */
export function detect(bytes: Uint8Array): Certainty {
  if (!canBegin(bytes, 0)) return "no";
  return bytes.length >= 4 && bytes.length >= (bytes[3] ?? 0) ? "sure" : "maybe";
}

/** The key of a packet: its type. */
export function classify(packet: Uint8Array): MessageKey | undefined {
  return packet.length < shortHeader ? undefined : packet[9];
}

/** A packet's data. */
export interface Packet {
  /** "Packet identifier", which the answer repeats. */
  readonly id: number;
  /** Where its data begin and end. */
  readonly start: number;
  readonly end: number;
}

/** Opens a packet; undefined: one of its checksums (CRC-8 of the header, CRC-16/CCITT-FALSE of the data) is wrong. */
export function open(packet: Uint8Array, ignoreChecksums: boolean): Packet | undefined {
  const start = packet[3] ?? 0;
  const end = start + u16leAt(packet, 5);
  const sound =
    start >= shortHeader &&
    crc8Nrsc5(packet, 0, start - 1) === packet[start - 1] &&
    (end === start || crc16CcittFalse(packet, start, end) === u16leAt(packet, end));
  if (!sound && !ignoreChecksums) return undefined;
  return { id: u16leAt(packet, 7), start, end: Math.min(end, packet.length) };
}

/** A packet with its checksums. */
export function packetOf(id: number, type: number, data: Uint8Array): Uint8Array {
  const writer = new Writer(data.length + 16).u8(1).u8(0).u8(0).u8(shortHeader).u8(0);
  writer.u16le(data.length).u16le(id).u8(type);
  writer.u8(crc8Nrsc5(writer.done())).raw(data);
  return writer.u16le(crc16CcittFalse(data)).done();
}

/** A record of a service with one subrecord. */
export function recordOf(service: number, type: number, content: Uint8Array): Uint8Array {
  const writer = new Writer(content.length + 10).u16le(content.length + 3);
  writer.u16(0).u8(0).u8(service).u8(service).u8(type);
  return writer.u16le(content.length).raw(content).done();
}

/** The data of an answer to a packet: its identifier, "processed", and a record that confirms one of its records. */
export function confirmation(packet: number, service: number, record: number): Uint8Array {
  const writer = new Writer(24).u16le(packet).u8(0);
  return writer.raw(recordOf(service, 0, Uint8Array.of(record & 0xff, record >> 8, 0))).done();
}
