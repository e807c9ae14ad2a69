import type { Effect } from "../../model/effects.ts";
import type { DecodeContext, Decoded } from "../../wire/protocol.ts";
import { bytesOfLatin1 } from "../../wire/reader.ts";

/** What a connection said before. */
export interface H02Session {
  /** Identifier of its last message; undefined: none had one. */
  readonly id: string | undefined;
  /** The maker's two letters: a tracker ignores what comes under another maker's (Protocol, 2). */
  readonly maker: string;
  /** Arrival of its last message, epoch ms: commands carry a time of day. */
  readonly heardAt: number;
}

/** A connection of which nothing is known. */
export const initialSession: H02Session = Object.freeze({ id: undefined, maker: "HQ", heardAt: 0 });

/** Identifiers are digits; makers of clones take other characters too. */
const idPattern = /^[A-Za-z0-9._:-]{1,64}$/;

/** Whether a text can be an identifier. */
export function isId(text: string): boolean {
  return idPattern.test(text);
}

/** What a message asks for beside saying who sent it. */
export interface Meaning {
  readonly effects: readonly Effect[];
  /** Sentence name that the server confirms, `*XX,id,V4,<name>,<time>#`, once everything is stored. */
  readonly confirm?: string;
  /** Bytes that answer the message itself, sent once what it reported is stored. */
  readonly echo?: string;
}

/** A message of a sender that may be named in it (`id` empty: whoever spoke before), put together with its replies. */
export function decoded(
  session: H02Session,
  context: DecodeContext,
  sender: { readonly maker: string; readonly id: string },
  meaning: Meaning,
): Decoded<H02Session> {
  const id = sender.id === "" ? session.id : sender.id;
  if (id === undefined && !context.identified)
    return { session, effects: [{ type: "failure", cause: "notIdentified" }] };
  const effects: Effect[] = [];
  if (id !== undefined && id !== session.id) effects.push({ type: "identify", ids: [id] });
  effects.push(...meaning.effects);
  if (sender.id !== "" && meaning.confirm !== undefined)
    effects.push(reply(`*${sender.maker},${sender.id},V4,${meaning.confirm},${dateTime(context.receivedAt)}#`));
  if (meaning.echo !== undefined) effects.push(reply(meaning.echo));
  return { session: { id, maker: sender.maker, heardAt: context.receivedAt }, effects };
}

function reply(text: string): Effect {
  return { type: "reply", bytes: bytesOfLatin1(text), when: "stored" };
}

/** `yyyymmddhhmmss`, UTC. */
function dateTime(time: number): string {
  const iso = new Date(time).toISOString();
  return iso.slice(0, 4) + iso.slice(5, 7) + iso.slice(8, 10) + clockOf(iso);
}

/** `hhmmss`, UTC. */
export function timeOfDay(time: number): string {
  return clockOf(new Date(time).toISOString());
}

function clockOf(iso: string): string {
  return iso.slice(11, 13) + iso.slice(14, 16) + iso.slice(17, 19);
}
