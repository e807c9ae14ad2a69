import type { Command } from "commander";
import { ApiClient } from "./client.ts";
import { findCredentials, findOperator } from "./credentials.ts";
import type { Host } from "./host.ts";

/** A client of the API for a command. `--config` and `--url`, where the command has it, say where to ask. */
export async function clientFor(host: Host, command: Command): Promise<ApiClient> {
  const { config, url } = command.optsWithGlobals<{ config?: string; url?: string }>();
  return clientWith(host, await findCredentials(host, config, url));
}

/** The same as the service's operator. */
export async function operatorFor(host: Host, command: Command): Promise<ApiClient> {
  const { config, url } = command.optsWithGlobals<{ config?: string; url?: string }>();
  return clientWith(host, await findOperator(host, config, url));
}

function clientWith(host: Host, credentials: ConstructorParameters<typeof ApiClient>[0]): ApiClient {
  return new ApiClient(credentials, {
    signal: host.interrupted,
    onWait: (seconds) => host.terminal.err(`The service's limit of requests is reached; going on in ${seconds} s.\n`),
  });
}

/** Help text: examples, one a line. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}
