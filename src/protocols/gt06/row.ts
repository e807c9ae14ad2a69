import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded, MessageKey, MessageRow } from "../../wire/protocol.ts";
import { acknowledgement, contentSize, type Message, open } from "./envelope.ts";
import type { Session } from "./session.ts";
import { bare } from "./unsealed.ts";

/** A handler of an opened message of a known device. */
export type Handler = (message: Message, session: Session, context: DecodeContext) => Decoded<Session>;

/** Further condition of a row: the size of the information content, which tells the clones apart, or the model. */
export type Condition = (size: number, context: DecodeContext) => boolean;

const badChecksum: readonly Effect[] = Object.freeze([Object.freeze({ type: "failure", cause: "badChecksum" })]);
const notIdentified: readonly Effect[] = Object.freeze([Object.freeze({ type: "failure", cause: "notIdentified" })]);

/** A row whose frames are opened, and refused with a wrong checksum or before a login. */
export function row(
  name: string,
  keys: readonly MessageKey[] | undefined,
  handle: Handler,
  condition?: Condition,
): MessageRow<Session> {
  return {
    name,
    ...(keys && { keys }),
    ...(condition && { when: (frame, _session, context) => condition(contentSize(frame), context) }),
    handle: (frame, session, context) => {
      const message = open(frame, context.options);
      if (message === undefined) return { session, effects: badChecksum };
      if (!context.identified) return { session, effects: notIdentified };
      return handle(message, session, context);
    },
  };
}

/** A row for the messages of these numbers without serial number and checksum. */
export function bareRow(
  name: string,
  types: readonly number[],
  handle: (frame: Uint8Array, session: Session, context: DecodeContext) => Decoded<Session>,
): MessageRow<Session> {
  return {
    name,
    keys: types.map((type) => bare | type),
    handle: (frame, session, context) =>
      context.identified ? handle(frame, session, context) : { session, effects: notIdentified },
  };
}

/** An effect that the manual asks no answer to. */
export function silent(session: Session, ...effects: readonly Effect[]): Decoded<Session> {
  return { session, effects };
}

/**
 * An effect, acknowledged with the message's own number once it is stored. Concox' manuals want no answer to plain
 * locations, those of clones do; a tracker that expects none passes over it, one that does would send the same again.
 */
export function acknowledged(message: Message, session: Session, effect: Effect): Decoded<Session> {
  const bytes = acknowledgement(message.type, message.serial);
  return { session, effects: [effect, { type: "reply", bytes, when: "stored" }] };
}

/** Whether the device's configured model is one of these (in capitals); its own case does not matter. */
export function modelIs(context: DecodeContext, ...models: readonly string[]): boolean {
  const model = context.options.model;
  return model !== undefined && models.includes(model.toUpperCase());
}
