import type { CommandView } from "../contract/command.ts";
import { formatInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { Command } from "../model/command.ts";

/** A command as the API shows it. */
export function commandView(command: Command): CommandView {
  const { id, state, channel, format, encode, reply, failure } = command;
  return {
    id,
    state,
    channel,
    command: command.command,
    format,
    encode,
    user: command.userName,
    creation: formatInstant(command.creation),
    expires: formatInstant(command.expires),
    sentAt: instant(command.sentAt),
    finishedAt: instant(command.finishedAt),
    reply,
    failure,
  };
}

function instant(time: number | null): string | null {
  return time === null ? null : formatInstant(time);
}

/** The place in a device's commands after this one. Clients are not to read it. */
export function cursorOf({ key }: Command): string {
  return Buffer.from(`c${key}`, "ascii").toString("base64url");
}

/** The key that a cursor names. */
export function afterOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const key = /^c(\d{1,16})$/.exec(Buffer.from(cursor, "base64url").toString("ascii"))?.[1];
  const after = Number(key);
  if (key !== undefined && Number.isSafeInteger(after)) return after;
  throw new ApiError("badRequest", ["querystring/cursor: must be the nextCursor of an answer"]);
}
