import { Readable } from "node:stream";
import type { Command } from "commander";
import { exitCodes } from "../../src/cli/exit.ts";
import type { Host } from "../../src/cli/host.ts";
import { makeProgram } from "../../src/cli/program.ts";
import { type Generator, generatedMark, markdownTable } from "./generator.ts";

/** A host whose commands are only asked for their help. */
function silentHost(): Host {
  const never = () => Promise.reject(new Error("only help is asked for"));
  return {
    terminal: {
      input: Readable.from([]),
      out: () => Promise.resolve(),
      err: () => {},
      outIsTty: false,
      errIsTty: false,
      columns: 110,
    },
    env: {},
    clock: { now: () => 0, monotonic: () => 0 },
    interrupted: new AbortController().signal,
    version: "",
    readConfig: never,
    startService: never,
    rotateSecret: never,
    backup: never,
    restore: never,
    check: never,
    moveStore: never,
  };
}

function helpOf(command: Command): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (part) => void parts.push(part), getOutHelpWidth: () => 110 }).outputHelp();
  return parts.join("").trimEnd();
}

function section(command: Command, path: string): string {
  const inner = command.commands.map((each) => section(each, `${path} ${each.name()}`));
  return [`## ${path}\n\n\`\`\`\n${helpOf(command)}\n\`\`\`\n`, ...inner].join("\n");
}

/** Every command's help, and the exit codes. */
export const cliDoc: Generator = {
  file: "docs/generated/cli.md",
  render() {
    const codes = Object.values(exitCodes).map(({ code, meaning }) => [String(code), meaning]);
    const commands = makeProgram(silentHost()).commands.map((command) => section(command, `waybeam ${command.name()}`));
    return `${generatedMark}
# Command line

Data goes to standard output, everything else (progress, notes, errors) to standard error. With \`--json\`, lists are JSON Lines: one object a line.
\`--config FILE\` may stand with every command.

Commands that ask the service take the address, user name and API key from \`WAYBEAM_URL\`, \`WAYBEAM_USER\` and \`WAYBEAM_API_KEY\`, and what of these is not set
from \`credentials.json\` of the data folder. Where all three come from there, the access token is kept beside it, in \`token\`, for the next command.

${markdownTable(["exit code", "meaning"], codes)}

${commands.join("\n")}`;
  },
};
