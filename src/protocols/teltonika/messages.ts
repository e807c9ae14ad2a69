import type { Effect } from "../../model/effects.ts";
import { latin1Of, Reader } from "../../wire/reader.ts";
import { dataPacket } from "./encode.ts";

/** Codec ids "for communication over GPRS messages" of the protocol manual. */
export const codec12 = 0x0c;
export const codec13 = 0x0d;
export const codec14 = 0x0e;
export const codec15 = 0x0f;

/** Message type of Codec 14's refusal: the command was for another IMEI. */
const notExecuted = 0x11;
/** Message type of pictures in Codec 12. */
export const cameraType = 0x0d;

/** One message of a packet: its type and payload. */
interface Message {
  readonly type: number;
  readonly payload: Reader;
}

/**
 * The messages of a packet's data field: codec id, count, (type, size, payload) ..., count. Undefined where the counts
 * differ.
 */
function messages(packet: Uint8Array): readonly Message[] | undefined {
  const reader = new Reader(packet, 9, packet.length - 4);
  const count = reader.u8();
  const found: Message[] = [];
  for (let index = 0; index < count; index++)
    found.push({ type: reader.u8(), payload: new Reader(reader.take(reader.u32())) });
  return reader.remaining === 1 && reader.u8() === count ? found : undefined;
}

/**
 * Effects of each message of a packet, one after the other; a packet without any is the "empty Codec 12" of the ping
 * mode.
 */
function each(packet: Uint8Array, effectsOf: (message: Message) => readonly Effect[]): readonly Effect[] {
  const found = messages(packet);
  if (found === undefined) return [{ type: "failure", cause: "malformed" }];
  if (found.length === 0) return [{ type: "ignored", reason: "keep-alive" }];
  return found.flatMap(effectsOf);
}

/** "Codec 12": the answer to a command. */
export function codec12Effects(packet: Uint8Array): readonly Effect[] {
  return each(packet, ({ payload }) =>
    payload.remaining === 0
      ? [{ type: "ignored", reason: "keep-alive" }]
      : [{ type: "commandResult", text: textOf(payload) }],
  );
}

/** "Codec 13": what a device at the tracker's serial port said, with its time; one-way. */
export function codec13Effects(packet: Uint8Array): readonly Effect[] {
  return each(packet, ({ payload }) => [serialReport(payload.u32(), payload)]);
}

/** "Codec 14": the answer to a command that was for one IMEI only. */
export function codec14Effects(packet: Uint8Array): readonly Effect[] {
  return each(packet, ({ type, payload }) => {
    payload.skip(8);
    if (type === notExecuted)
      return [{ type: "commandResult", text: "not executed: the IMEI does not match", ok: false }];
    return [{ type: "commandResult", text: textOf(payload), ok: true }];
  });
}

/** "Codec 15": as Codec 13, with the tracker's IMEI after the time. */
export function codec15Effects(packet: Uint8Array): readonly Effect[] {
  return each(packet, ({ payload }) => {
    const seconds = payload.u32();
    payload.skip(8);
    return [serialReport(seconds, payload)];
  });
}

function serialReport(seconds: number, payload: Reader): Effect {
  const text = textOf(payload);
  // A magnetic card reader at the serial port: GTSL|6|1|0|<driver's number>|1|.
  const driverId = text.startsWith("GTSL|") ? text.split("|")[4] : undefined;
  const readings = driverId ? { driverId } : {};
  return { type: "readings", time: seconds * 1000, alarms: [], readings, attributes: { text } };
}

/** The rest of a payload as text without its line end, or as hex where it is none. */
function textOf(payload: Reader): string {
  const bytes = payload.take(payload.remaining);
  const isText = bytes.every(
    (byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d,
  );
  return isText ? latin1Of(bytes).trim() : bytes.toHex();
}

/** A picture is sent in pieces of this many bytes; a shorter one is its last. */
const pieceSize = 0x800;

/**
 * Codec 12, type 0x0D: a camera announces a picture (1, its number) and sends the pieces that it is asked for (2,
 * number, offset, size, bytes). Pictures are not kept: each piece is asked for, so that the tracker gets rid of it and
 * does not announce it for ever.
 */
export function cameraEffects(packet: Uint8Array): readonly Effect[] {
  return each(packet, ({ payload }) => {
    const ignored: Effect = { type: "ignored", reason: "camera picture" };
    const kind = payload.u8();
    if (kind !== 1 && kind !== 2) return [ignored];
    const picture = payload.u32();
    if (kind === 1) return [ignored, request(picture, 0)];
    const offset = payload.u32();
    const size = payload.u16();
    payload.skip(size);
    return size < pieceSize ? [ignored] : [ignored, request(picture, offset + size)];
  });
}

function request(picture: number, offset: number): Effect {
  const payload = new DataView(new ArrayBuffer(11));
  payload.setUint8(0, 2);
  payload.setUint32(1, picture);
  payload.setUint32(5, offset);
  payload.setUint16(9, pieceSize);
  const bytes = dataPacket(codec12, cameraType, new Uint8Array(payload.buffer));
  return { type: "reply", bytes, when: "identified" };
}
