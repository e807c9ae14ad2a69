import { ApiError } from "../errors/catalogue.ts";
import { isOutsideWindow } from "../model/account.ts";
import type { CommandState } from "../model/command.ts";
import type { Clock } from "../ports/clock.ts";
import type { CommandRun, CommandRunner, RuleCommand } from "../ports/command-runner.ts";
import type { Store } from "../ports/store.ts";
import type { Commands } from "./commands.ts";

/** What it needs of the service. */
export interface CommandRunnerContext {
  readonly store: Pick<Store, "users" | "devices" | "commands">;
  readonly commands: Pick<Commands, "send">;
  readonly clock: Clock;
}

/**
 * How long a rule's command waits for a device that is not connected, s: it answers what happens now, and in a day
 * would do harm.
 */
const ttlSeconds = 3600;

/** Ends of a command that did not reach its device. */
const unsent: ReadonlySet<CommandState> = new Set(["failed", "expired", "cancelled"]);

/**
 * Sends commands of rules as if their users did it by the API: with the same checks, and under the notice's id as the
 * idempotency key, so that a try after a crash finds the first one's record and sends nothing.
 */
export function createCommandRunner(context: CommandRunnerContext): CommandRunner {
  const { store, commands, clock } = context;
  return {
    async run({ id, deviceId, userKey, command, format, sms, encode }: RuleCommand): Promise<CommandRun> {
      const user = await store.users.findByKey(userKey);
      if (user === undefined) return { outcome: "refused", reason: "the user who set the rule's command is gone" };
      if (user.disabled || isOutsideWindow(user, clock.now()))
        return { outcome: "refused", reason: "the user who set the rule's command is disabled or has expired" };
      try {
        const { commandId } = await commands.send(user, deviceId, { command, format, sms, encode, ttlSeconds }, id);
        return (await failureOf(store, deviceId, commandId)) ?? { outcome: "accepted", peerId: commandId };
      } catch (error) {
        if (error instanceof ApiError) return refusalOf(error);
        throw error;
      }
    },
  };
}

/** Undefined: it was sent, or waits for its device. */
async function failureOf(
  store: CommandRunnerContext["store"],
  deviceId: string,
  commandId: string,
): Promise<CommandRun | undefined> {
  const device = await store.devices.find(deviceId);
  const record = device && (await store.commands.find(device.key, commandId));
  if (record === undefined || !unsent.has(record.state)) return undefined;
  return { outcome: "refused", reason: record.failure ?? `the command is ${record.state}` };
}

function refusalOf({ code, kind, details, retryAfter }: ApiError): CommandRun {
  const reason = [kind.text, ...details].join(": ");
  if (code === "dailySms") return { outcome: "suppressed", reason };
  if (!kind.retryable) return { outcome: "refused", reason };
  return { outcome: "unavailable", reason, ...(retryAfter !== undefined && { retryAfterMs: retryAfter * 1000 }) };
}
