import { Command } from "commander";
import { exitCodes } from "./exit.ts";
import type { Host } from "./host.ts";

const after = `
Commands that ask the service read credentials.json of the data folder, or WAYBEAM_URL, WAYBEAM_USER and WAYBEAM_API_KEY;
the operator's commands WAYBEAM_URL and WAYBEAM_OPERATOR_KEY.
Exit codes: ${Object.values(exitCodes)
  .map(({ code, meaning }) => `\n  ${String(code).padEnd(4)} ${meaning}`)
  .join("")}
`;

/** The program without its commands. */
export function bareProgram(host: Host): Command {
  return new Command("waybeam")
    .description("Open, self-hosted device tracking: trackers in over TCP, UDP or HTTP, one REST API out.")
    .version(host.version)
    .option("--config <file>", "configuration file; without it WAYBEAM_CONFIG, or waybeam.json here if there is one")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void host.terminal.out(text),
      writeErr: (text) => host.terminal.err(text),
      outputError: (text, write) => write(text.replace(/^error: /, "waybeam: ")),
      getOutHelpWidth: () => host.terminal.columns,
      getErrHelpWidth: () => host.terminal.columns,
    })
    .showHelpAfterError("(add --help to see what it takes)")
    .addHelpText("after", after);
}
