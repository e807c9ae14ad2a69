import type { Command } from "../model/command.ts";
import type { CommandStore } from "../ports/command-store.ts";

/** The store's commands; each that it records or changes is told. */
export function toldCommands(commands: CommandStore, tell: (command: Command) => void): CommandStore {
  const made = <T extends { readonly command: Command; readonly existing: boolean } | string>(result: T): T => {
    if (typeof result !== "string" && !result.existing) tell(result.command);
    return result;
  };
  return {
    create: async (...input) => made(await commands.create(...input)),
    enqueue: async (...input) => made(await commands.enqueue(...input)),
    find: (...input) => commands.find(...input),
    findByIdempotencyKey: (...input) => commands.findByIdempotencyKey(...input),
    list: (...input) => commands.list(...input),
    page: (...input) => commands.page(...input),
    queued: (...input) => commands.queued(...input),
    async step(...input) {
      const command = await commands.step(...input);
      if (command !== undefined) tell(command);
      return command;
    },
    receipt: (...input) => commands.receipt(...input),
    async expire(now) {
      const ended = await commands.expire(now);
      for (const command of ended) tell(command);
      return ended;
    },
    nextExpiry: () => commands.nextExpiry(),
    waitingDevices: (limit) => commands.waitingDevices(limit),
    deleteEnded: (...input) => commands.deleteEnded(...input),
  };
}
