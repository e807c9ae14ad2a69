import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { bareProgram } from "./bare-program.ts";
import { addAccount } from "./commands/account.ts";
import { addAlert } from "./commands/alert.ts";
import { addBackup, addCheck, addRestore } from "./commands/backup.ts";
import { addCommand } from "./commands/command.ts";
import { addConfig } from "./commands/config.ts";
import { addDecode } from "./commands/decode.ts";
import { addDemo } from "./commands/demo.ts";
import { addDevice } from "./commands/device.ts";
import { addGroup } from "./commands/group.ts";
import { addHistory, addLast } from "./commands/location.ts";
import { addMoveStore } from "./commands/move-store.ts";
import { addMute } from "./commands/mute.ts";
import { addNotice } from "./commands/notice.ts";
import { addRecipient } from "./commands/recipient.ts";
import { addRule } from "./commands/rule.ts";
import { addSecret } from "./commands/secret.ts";
import { addServe } from "./commands/serve.ts";
import { addSimulate } from "./commands/simulate.ts";
import { addTrace } from "./commands/trace.ts";
import { addUser } from "./commands/user.ts";
import { addZone } from "./commands/zone.ts";
import type { Host } from "./host.ts";

/** The program's commands and their help. */
export function makeProgram(host: Host): Command {
  const program = bareProgram(host);
  for (const add of [
    addServe,
    addDemo,
    addConfig,
    addDevice,
    addGroup,
    addUser,
    addAccount,
    addLast,
    addHistory,
    addCommand,
    addRule,
    addZone,
    addAlert,
    addMute,
    addNotice,
    addRecipient,
    addTrace,
    addDecode,
    addSimulate,
    addSecret,
    addBackup,
    addRestore,
    addCheck,
    addMoveStore,
  ])
    add(program, host);
  // Completes for bash, zsh and fish from the commands above; it prints by itself, so it comes last.
  tab(program);
  program.commands
    .find((each) => each.name() === "complete")
    ?.description("print the completions of a shell: bash, zsh or fish");
  return program;
}
