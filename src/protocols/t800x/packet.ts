import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";

/** Which devices a header is of. The first byte of it stands for both, which are the same. */
export const family = { old: 0x23, vehicle: 0x25, obd: 0x26, asset: 0x27 } as const;

/** Header, type, length, serial number and IMEI. */
export const headLength = 15;

/** What a connection said before. */
export interface T800xSession {
  /** Identifier of its last message; undefined: none came. */
  readonly id: string | undefined;
  readonly family: number;
}

/** A connection of which nothing is known. */
export const initialSession: T800xSession = Object.freeze({ id: undefined, family: family.old });

/** A message: who sent it, and what stands behind its head. */
export interface Packet {
  readonly family: number;
  readonly type: number;
  readonly serial: number;
  readonly imei: string;
  readonly body: Reader;
  /** The device's tag `model`. */
  readonly model: string | undefined;
}

/** Takes a message apart; undefined where its length or its IMEI is none. */
export function packetOf(frame: Uint8Array, model: string | undefined): Packet | undefined {
  const head = new Reader(frame);
  const first = head.u16() & 0xff;
  const type = head.u8();
  const length = head.u16();
  const serial = head.u16();
  const digits = head.hex(8);
  if (length < headLength || length > frame.length || !/^\d{16}$/.test(digits)) return undefined;
  const body = new Reader(frame, headLength, length);
  return { family: first, type, serial, imei: digits.slice(1), body, model };
}

/** A message of either side. */
export function packetBytes(
  { family, type, serial, imei }: Pick<Packet, "family" | "type" | "serial" | "imei">,
  body: Uint8Array,
): Uint8Array {
  const writer = new Writer(headLength + body.length).u8(family).u8(family).u8(type);
  return writer
    .u16(headLength + body.length)
    .u16(serial)
    .raw(Uint8Array.fromHex(imei.padStart(16, "0")))
    .raw(body)
    .done();
}

/**
 * The acknowledgement: the message's own head, and of an alarm its code. Those of the first devices count nothing: the
 * serial number is 1.
 */
export function acknowledgement(packet: Packet, when: "identified" | "stored", alarm?: number): Effect {
  const serial = packet.family === family.old ? 1 : packet.serial;
  const body = alarm === undefined ? new Uint8Array(0) : Uint8Array.of(alarm);
  return { type: "reply", bytes: packetBytes({ ...packet, serial }, body), when };
}

/** Reads a message of a known sender. */
export type Read = (packet: Packet) => readonly Effect[];

/** Handles a message by its body. */
export function handler(read: Read) {
  return (frame: Uint8Array, session: T800xSession, { options }: DecodeContext): Decoded<T800xSession> => {
    const packet = packetOf(frame, options.model);
    if (packet === undefined) return { session, effects: [{ type: "failure", cause: "malformed" }] };
    const effects = read(packet);
    if (effects.some(({ type }) => type === "failure")) return { session, effects };
    const { imei } = packet;
    if (imei === session.id && packet.family === session.family) return { session, effects };
    return {
      session: { id: imei, family: packet.family },
      effects: imei === session.id ? effects : [{ type: "identify", ids: [imei] }, ...effects],
    };
  };
}
