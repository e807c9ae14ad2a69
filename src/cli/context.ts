import type { Command } from "commander";
import { ApiClient } from "./client.ts";
import { findCredentials } from "./credentials.ts";
import type { Host } from "./host.ts";

/** A client of the API for a command. `--config` and `--url`, where the command has it, say where to ask. */
export async function clientFor(host: Host, command: Command): Promise<ApiClient> {
  const { config, url } = command.optsWithGlobals<{ config?: string; url?: string }>();
  const credentials = await findCredentials(host, config, url);
  return new ApiClient(credentials, {
    signal: host.interrupted,
    onWait: (seconds) => host.terminal.err(`The service's limit of requests is reached; going on in ${seconds} s.\n`),
  });
}

/** Help text: examples, one a line. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}
