import { type Command, CommanderError } from "commander";
import { bareProgram } from "./bare-program.ts";
import { addServe } from "./commands/serve.ts";
import { CliError, describeFailure, exitCodes } from "./exit.ts";
import type { Host } from "./host.ts";

/**
 * The service is started without the other commands: loading them would delay it, and they would stay in its memory.
 */
async function programOf(args: readonly string[], host: Host): Promise<Command> {
  if (args[0] !== "serve") return (await import("./program.ts")).makeProgram(host);
  const program = bareProgram(host);
  addServe(program, host);
  return program;
}

/** Runs the program with the arguments after its name; the exit code. */
export async function run(args: readonly string[], host: Host): Promise<number> {
  try {
    const program = await programOf(args, host);
    await program.parseAsync([...args], { from: "user" });
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
