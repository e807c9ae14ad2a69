import type { CommandView } from "../contract/command.ts";
import { formatInstant } from "../contract/time.ts";
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
