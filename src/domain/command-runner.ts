import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Clock } from "../ports/clock.ts";
import type { CommandRun, CommandRunner, RuleCommand } from "../ports/command-runner.ts";
import type { UserStore } from "../ports/store.ts";
import type { Commands } from "./commands.ts";

/** What it needs of the service. */
export interface CommandRunnerContext {
  readonly users: Pick<UserStore, "findByKey">;
  readonly commands: Pick<Commands, "send">;
  readonly clock: Clock;
}

/** How long a rule's command waits for a device that is not connected, s: it answers what happens now, and in a day would do harm. */
const ttlSeconds = 3600;

/**
 * Sends commands of rules as if their users did it by the API: with the same checks, and under the notice's id as the idempotency key, so that a try after a
 * crash finds the first one's record and sends nothing.
 */
export function createCommandRunner({ users, commands, clock }: CommandRunnerContext): CommandRunner {
  return {
    async run({ id, deviceId, userKey, command, format, sms, encode }: RuleCommand): Promise<CommandRun> {
      const user = await users.findByKey(userKey);
      if (user === undefined) return { outcome: "refused", reason: "the user who set the rule's command is gone" };
      if (!isActive(user, clock.now()))
        return { outcome: "refused", reason: "the user who set the rule's command is disabled or has expired" };
      try {
        const body = { command, format, sms, encode, ttlSeconds };
        const { commandId } = await commands.send(user, deviceId, body, id);
        return { outcome: "accepted", peerId: commandId };
      } catch (error) {
        if (error instanceof ApiError) return failure(error);
        throw error;
      }
    },
  };
}

function isActive({ disabled, from, expires }: User, now: number): boolean {
  return !disabled && (from === null || now >= from) && (expires === null || now < expires);
}

function failure({ code, kind, details, retryAfter }: ApiError): CommandRun {
  const reason = [kind.text, ...details].join(": ");
  if (code === "dailySms") return { outcome: "suppressed", reason };
  if (!kind.retryable) return { outcome: "refused", reason };
  return { outcome: "unavailable", reason, ...(retryAfter !== undefined && { retryAfterMs: retryAfter * 1000 }) };
}
