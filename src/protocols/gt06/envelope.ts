import { crc16X25 } from "../../wire/checksums.ts";
import type { DecodeOptions, MessageKey } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { bareKey } from "./unsealed.ts";

/** Start bits of a message whose length is one byte, and of one whose length is two. */
export const shortStart = 0x78;
export const longStart = 0x79;

/** Added to the key of a message with long start bits, for the numbers that mean another message there. */
export const long = 0x100;
const otherWhenLong: readonly number[] = [0x32, 0x33, 0x36, 0x94];

const checked: DecodeOptions = Object.freeze({});
const unchecked: DecodeOptions = Object.freeze({ checksums: "ignore" });

/** A message whose checksum is wrong, to be asked who it says that it is from. */
export function openUnchecked(frame: Uint8Array): Message | undefined {
  return open(frame, unchecked);
}

/** One message between its start and stop bits (GT06 manual v1.8.1, 4). */
export interface Message {
  /** Protocol number. */
  readonly type: number;
  /** Started with 0x7979. */
  readonly extended: boolean;
  /** Information serial number, which an answer repeats. */
  readonly serial: number;
  /** Bounded to the information content. */
  readonly reader: Reader;
  /** Bytes of information content. */
  readonly size: number;
}

/** Length of the start bits and the packet length. */
function headLength(frame: Uint8Array): number {
  return frame[0] === longStart ? 4 : 3;
}

/** The packet length field: protocol number, content, serial number and checksum. */
function packetLength(frame: Uint8Array): number {
  return frame[0] === longStart ? ((frame[2] ?? 0) << 8) | (frame[3] ?? 0) : (frame[2] ?? 0);
}

/** Whether a frame ends at `end`, with or without its stop bits. */
function endsAt(frame: Uint8Array, end: number): boolean {
  return frame.length === end || (frame.length === end + 2 && frame[end] === 0x0d && frame[end + 1] === 0x0a);
}

/**
 * Offset of the serial number, behind which the checksum stands; -1 where the length field does not fit the frame.
 * Some clones leave the checksum out of the packet length.
 */
export function serialOffset(frame: Uint8Array): number {
  if (frame.length < 5) return -1;
  const start = frame[0];
  if ((start !== shortStart && start !== longStart) || frame[1] !== start) return -1;
  const head = headLength(frame);
  const end = head + packetLength(frame);
  if (end - 4 <= head) return end - 2 > head && endsAt(frame, end + 2) ? end - 2 : -1;
  if (endsAt(frame, end)) return end - 4;
  return endsAt(frame, end + 2) ? end - 2 : -1;
}

/** Where the information content of a frame begins. */
export function contentOffset(frame: Uint8Array): number {
  return headLength(frame) + 1;
}

/** Bytes of information content of a frame; tells clones and versions of a message apart. */
export function contentSize(frame: Uint8Array): number {
  return serialOffset(frame) - headLength(frame) - 1;
}

/**
 * Bytes of the shortest message of a clone that leaves the checksum out of the length: a length of 3, and stop bits.
 */
const shortestOfClone = 10;

/** Whether no sealed message looks so: one of a few bytes without content, or a login without room for an IMEI. */
function isBare(frame: Uint8Array): boolean {
  if (frame[0] !== shortStart) return false;
  const length = frame[2] ?? 0;
  return length <= 3 ? frame.length < shortestOfClone : length === 0x0a && frame[3] === 0x01;
}

/** Key of a frame: its protocol number, with `long` or `bare` where that matters. */
export function classify(frame: Uint8Array): MessageKey | undefined {
  if (isBare(frame)) return bareKey(frame);
  if (serialOffset(frame) >= 0) {
    if (frame[0] === shortStart) return frame[3];
    const type = frame[4] ?? 0;
    return otherWhenLong.includes(type) ? long | type : type;
  }
  return bareKey(frame);
}

/**
 * Opens a frame that `classify` has keyed. Undefined: its checksum, CRC-ITU from the packet length to the serial
 * number, does not match, and the manual has such a packet discarded (4.6).
 */
export function open(frame: Uint8Array, { checksums }: DecodeOptions = checked): Message | undefined {
  const at = serialOffset(frame);
  const head = headLength(frame);
  const checksum = ((frame[at + 2] ?? 0) << 8) | (frame[at + 3] ?? 0);
  if (crc16X25(frame, 2, at + 2) !== checksum && checksums !== "ignore") return undefined;
  return {
    type: frame[head] ?? 0,
    extended: frame[0] === longStart,
    serial: ((frame[at] ?? 0) << 8) | (frame[at + 1] ?? 0),
    reader: new Reader(frame, head + 1, at),
    size: at - head - 1,
  };
}

const nothing = new Uint8Array(0);

/** A whole message of either side: start bits, length, number, content, serial number, checksum, stop bits. */
export function seal(type: number, serial: number, content: Uint8Array = nothing, extended = false): Uint8Array {
  const writer = new Writer(content.length + 12);
  const length = content.length + 5;
  if (extended) writer.u16(0x7979).u16(length);
  else writer.u16(0x7878).u8(length);
  writer.u8(type).raw(content).u16(serial);
  return writer.u16(crc16X25(writer.done(), 2)).u16(0x0d0a).done();
}

/** The server's usual answer: the message's own number and serial number (4.8). */
export function acknowledgement(type: number, serial: number): Uint8Array {
  const bytes = new Uint8Array([0x78, 0x78, 5, type, serial >> 8, serial & 0xff, 0, 0, 0x0d, 0x0a]);
  const checksum = crc16X25(bytes, 2, 6);
  bytes[6] = checksum >> 8;
  bytes[7] = checksum & 0xff;
  return bytes;
}
