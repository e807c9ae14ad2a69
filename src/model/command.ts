import { holds, type User } from "./account.ts";

/** How the text of a command is to be understood (specification 4.7). */
export type CommandFormat = "Text" | "Hex" | "Base64";

/** Over the device's data connection, or by SMS. */
export type CommandChannel = "data" | "sms";

/**
 * Where a command stands. `queued`: waits for the device to connect, or for its turn · `sent`: written to the
 * connection, or taken by the SMS gateway · `delivered`: the device answered, or the gateway reported delivery ·
 * `failed` · `expired`: its time ran out before it could be sent · `cancelled`. The last four are final.
 */
export type CommandState = "queued" | "sent" | "delivered" | "failed" | "expired" | "cancelled";

/** A command and what became of it. */
export interface Command {
  readonly key: number;
  /** Public identifier (UUID). */
  readonly id: string;
  readonly device: number;
  readonly userKey: number;
  /** Who asked for it, as it was then: the user may be gone later. */
  readonly userName: string;
  readonly channel: CommandChannel;
  readonly format: CommandFormat;
  /** As given by the caller. */
  readonly command: string;
  /** The device's protocol wraps the text as its manual says; otherwise the decoded bytes are written as they are. */
  readonly encode: boolean;
  readonly state: CommandState;
  readonly creation: number;
  /** Until when it may be sent, epoch ms. */
  readonly expires: number;
  readonly sentAt: number | null;
  readonly finishedAt: number | null;
  /** The device's answer. */
  readonly reply: string | null;
  /** Why it failed, in a sentence. */
  readonly failure: string | null;
  readonly idempotencyKey: string | null;
}

/** States that nothing follows. */
export const finalStates: ReadonlySet<CommandState> = new Set(["delivered", "failed", "expired", "cancelled"]);

/** Whether a user may send commands on a channel (decisions page, "Users"). */
export function mayCommand(user: Pick<User, "privileges">, channel: CommandChannel): boolean {
  return (
    holds(user, "admin") ||
    holds(user, "execute") ||
    holds(user, channel === "sms" ? "sendSmsCommands" : "sendCommands")
  );
}
