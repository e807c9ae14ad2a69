import type { Command } from "../model/command.ts";
import { unknownOutcome } from "./command-outcome.ts";

/**
 * Commands whose outcome this process waits for, by id. Their records say that the outcome is unknown, for the case that the process ends now; to readers
 * that is no failure as long as it does not.
 */
export class CommandsUnderWay {
  readonly #work = new Map<string, Promise<unknown>>();

  /** Does the work on a command; one at a time for each. */
  async run<T>(id: string, work: () => Promise<T>): Promise<T> {
    const running = work();
    this.#work.set(id, running);
    try {
      return await running;
    } finally {
      if (this.#work.get(id) === running) this.#work.delete(id);
    }
  }

  has(id: string): boolean {
    return this.#work.has(id);
  }

  /** Resolves when the command's outcome, or that it has none, is recorded; at once where nothing is under way. */
  async settled(id: string): Promise<void> {
    await this.#work.get(id)?.catch(() => {});
  }

  /** The command as it is to be told. */
  tell(command: Command): Command {
    return this.has(command.id) && command.failure === unknownOutcome ? { ...command, failure: null } : command;
  }
}
