import type { AlertCommand } from "../model/alert-rule.ts";
import type { Delivery } from "./mailer.ts";

/** A command that a rule sends to a device. */
export interface RuleCommand extends Omit<AlertCommand, "delaySeconds"> {
  /** The notice's id, the same for every try: a command is never sent twice under one. */
  readonly id: string;
  /** Public id of the device. */
  readonly deviceId: string;
  /** In whose name: who changed the rule last. */
  readonly userKey: number;
}

/**
 * What became of it. `accepted`: there is a record of the command, which tells the rest · `suppressed`: the device's
 * daily SMS are used up.
 */
export type CommandRun = Delivery | { readonly outcome: "suppressed"; readonly reason: string };

/** Sends the commands of rules, each in the name and with the rights that its user has at that moment. */
export interface CommandRunner {
  run(command: RuleCommand): Promise<CommandRun>;
}
