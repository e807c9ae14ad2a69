import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, MessageRow } from "../../wire/protocol.ts";
import { Writer } from "../../wire/writer.ts";
import { type Family, type Message, open, seal } from "./frames.ts";

/** What a connection has told. */
export interface Session {
  readonly id: string | undefined;
  /** Version of the last frame; undefined before the first and for frames without one. */
  readonly version: number | undefined;
  /** The tracker sends frames without a version. */
  readonly unversioned: boolean;
}

/** Before the first message. */
export const initialSession: Session = Object.freeze({ id: undefined, version: undefined, unversioned: false });

const families: readonly Family[] = ["SC", "CC", "MPIP"];

/** The key of a message: its family and type. */
export function keyOf(family: Family, type: number): number {
  return families.indexOf(family) * 0x10000 + type;
}

/** What a message's content says. */
export type Read = (message: Message, context: DecodeContext) => readonly Effect[];

/** A row for some types of a family. */
export function row(name: string, family: Family, types: readonly number[], read: Read): MessageRow<Session> {
  return { name, keys: types.map((type) => keyOf(family, type)), handle: handler(read) };
}

/** Checks the frame, says who it is from where that is new, and remembers its version. */
export function handler(read: Read): MessageRow<Session>["handle"] {
  return (bytes, session, context) => {
    const message = open(bytes);
    if (message === undefined) return { session, effects: [{ type: "failure", cause: "malformed" }] };
    const { id, version } = message;
    if (!message.sound && context.options.checksums !== "ignore")
      return { session, effects: [{ type: "failure", cause: "badChecksum", ids: [id] }] };
    const effects = read(message, context);
    if (session.id === id && session.version === version) return { session, effects };
    return {
      session: { id, version, unversioned: version === undefined },
      effects: session.id === id ? effects : [{ type: "identify", ids: [id] }, ...effects],
    };
  };
}

/** A reply in the form of the message that it answers. */
export function reply(
  { version, idBytes }: Message,
  when: "identified" | "stored",
  type: number,
  content?: Uint8Array,
): Effect {
  return { type: "reply", bytes: seal(version, idBytes, type, content), when };
}

/** Content of the answer to a login: no address of another server, port 0, the time. */
export function loginContent(receivedAt: number): Uint8Array {
  return new Writer(10)
    .u32(0xffffffff)
    .u16(0)
    .u32le(Math.floor(receivedAt / 1000))
    .done();
}
