import { Command, CommanderError } from "commander";
import { addAccount } from "./commands/account.ts";
import { addAlert } from "./commands/alert.ts";
import { addCommand } from "./commands/command.ts";
import { addConfig } from "./commands/config.ts";
import { addDecode } from "./commands/decode.ts";
import { addDemo } from "./commands/demo.ts";
import { addDevice } from "./commands/device.ts";
import { addGroup } from "./commands/group.ts";
import { addHistory, addLast } from "./commands/location.ts";
import { addNotice } from "./commands/notice.ts";
import { addRule } from "./commands/rule.ts";
import { addServe } from "./commands/serve.ts";
import { addSimulate } from "./commands/simulate.ts";
import { addTrace } from "./commands/trace.ts";
import { addUser } from "./commands/user.ts";
import { addZone } from "./commands/zone.ts";
import { CliError, describeFailure, exitCodes } from "./exit.ts";
import type { Host } from "./host.ts";

const after = `
Commands that ask the service read credentials.json of the data folder, or WAYBEAM_URL, WAYBEAM_USER and WAYBEAM_API_KEY;
the operator's commands WAYBEAM_URL and WAYBEAM_OPERATOR_KEY.
Exit codes: ${Object.values(exitCodes)
  .map(({ code, meaning }) => `\n  ${String(code).padEnd(4)} ${meaning}`)
  .join("")}
`;

/** The program's commands and their help. */
export function makeProgram(host: Host): Command {
  const program = new Command("waybeam")
    .description("Open, self-hosted device tracking: trackers in over TCP, UDP or HTTP, one REST API out.")
    .version(host.version)
    .option("--config <file>", "configuration file; without it WAYBEAM_CONFIG, or waybeam.json here if there is one")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void host.terminal.out(text),
      writeErr: (text) => host.terminal.err(text),
      getOutHelpWidth: () => host.terminal.columns,
      getErrHelpWidth: () => host.terminal.columns,
    })
    .showHelpAfterError("(add --help to see what it takes)")
    .addHelpText("after", after);
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
    addNotice,
    addTrace,
    addDecode,
    addSimulate,
  ])
    add(program, host);
  return program;
}

/** Runs the program with the arguments after its name; the exit code. */
export async function run(args: readonly string[], host: Host): Promise<number> {
  try {
    await makeProgram(host).parseAsync([...args], { from: "user" });
    return exitCodes.ok.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok.code : exitCodes.usage.code;
    // Commands that go on until Ctrl-C end well by it; the others were not done.
    if (host.interrupted.aborted && error instanceof Error && error.name === "AbortError")
      return exitCodes.interrupted.code;
    host.terminal.err(describeFailure(error));
    return error instanceof CliError ? exitCodes[error.exit].code : exitCodes.failure.code;
  }
}
