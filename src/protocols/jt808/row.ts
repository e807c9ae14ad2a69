import type { Effect, Identify } from "../../model/effects.ts";
import type { DecodeContext, Decoded, MessageRow } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { Writer } from "../../wire/writer.ts";
import { type Address, acknowledgement, type Message, open, seal, success } from "./envelope.ts";
import { identify } from "./identity.ts";

/** What a connection said of itself. */
export interface Session {
  /** Whom commands are for: the sender of the last message; undefined: nobody spoke yet. */
  readonly sender: Address | undefined;
  readonly identify: Identify | undefined;
  /** The tag `model` of the device: makers frame their commands each in their own way. */
  readonly model: string | undefined;
  /** Bodies of a message of which not all parts have come. */
  readonly parts: Parts | undefined;
}

/** The parts of a message so far, in their order. */
interface Parts {
  readonly type: number;
  readonly bodies: readonly Uint8Array[];
}

/** A connection of which nothing is known. */
export const initial: Session = Object.freeze({
  sender: undefined,
  identify: undefined,
  model: undefined,
  parts: undefined,
});

/** What a handler makes of a message. */
export type Handler = (message: Message, context: DecodeContext) => readonly Effect[];

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}

/** The session after a message: the same one, unless another device spoke or its model has become known. */
function after(session: Session, message: Message, model: string | undefined): Session {
  const { sender } = session;
  const { delimiter, version, phone } = message;
  const same =
    sender !== undefined &&
    sender.version === version &&
    sender.delimiter === delimiter &&
    sameBytes(sender.phone, phone);
  if (same) return session.model === model ? session : { ...session, model };
  return { sender: { delimiter, version, phone: phone.slice() }, identify: identify(phone), model, parts: undefined };
}

const malformed: readonly Effect[] = Object.freeze([Object.freeze({ type: "failure", cause: "malformed" })]);

/** Longest message of several parts that is put together: bulk reports are the longest, with some 200 locations. */
const mostParts = 64;
/** 0x0801: its first part has all but the rest of the picture, which is not kept. */
const media = 0x0801;

/** Adds a part to those before it. Undefined: it is the last one, or the message has one only. */
function gather(
  session: Session,
  message: Message,
): { readonly parts: Parts | undefined; readonly whole: Message | undefined } {
  const { part, reader, type } = message;
  if (part === undefined || part.count <= 1 || type === media) return { parts: undefined, whole: message };
  const before = session.parts?.type === type ? session.parts.bodies : [];
  const bodies = part.number === 1 ? [] : before;
  if (part.number !== bodies.length + 1 || part.count > mostParts) return { parts: undefined, whole: undefined };
  const next = [...bodies, reader.take(reader.remaining).slice()];
  if (part.number < part.count) return { parts: { type, bodies: next }, whole: undefined };
  const body = new Writer(1024 * next.length);
  for (const each of next) body.raw(each);
  return { parts: undefined, whole: { ...message, reader: new Reader(body.done()) } };
}

const nothing = new Reader(new Uint8Array(0));

/** A row whose messages are opened; each one says who sent it. Absent keys: any message. */
export function row(
  name: string,
  keys: readonly number[] | undefined,
  handle: Handler,
  when?: (reader: Reader) => boolean,
): MessageRow<Session> {
  return {
    name,
    ...(keys && { keys }),
    ...(when && { when: (frame) => when(open(frame)?.message.reader ?? nothing) }),
    handle: (frame, session, context): Decoded<Session> => {
      const opened = open(frame, context.options);
      if (opened === undefined) return { session, effects: malformed };
      const { message, sound } = opened;
      if (!sound)
        return { session, effects: [{ type: "failure", cause: "badChecksum", ids: identify(message.phone).ids }] };
      const known = after(session, message, context.options.model);
      const { parts, whole } = gather(known, message);
      const effects =
        whole === undefined
          ? [{ type: "ignored", reason: "part of a message" } as const, heard(message)]
          : handle(whole, context);
      const next = known.parts === parts ? known : { ...known, parts };
      const { identify: sender } = known;
      return {
        session: next,
        effects: sender === undefined || sender === session.identify ? effects : [sender, ...effects],
      };
    },
  };
}

/** 0x8001 once everything that the message reported is stored. */
export function stored(message: Message): Effect {
  return { type: "reply", bytes: acknowledgement(message), when: "stored" };
}

/** 0x8001 once the device is known. */
export function heard(message: Message, result: number = success): Effect {
  return { type: "reply", bytes: acknowledgement(message, result), when: "identified" };
}

/** Another answer of the platform. */
export function answer(message: Message, type: number, body: Uint8Array, when: "identified" | "stored"): Effect {
  return { type: "reply", bytes: seal(type, message, 0, body), when };
}

/** What the answer to a command of this serial number is called; 0 is that of commands without a mark. */
export function nameOfSerial(serial: number): { readonly to?: string } {
  return serial === 0 ? {} : { to: serial.toString(16) };
}
