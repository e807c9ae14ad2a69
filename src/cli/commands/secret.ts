import type { Command } from "commander";
import { examples } from "../context.ts";
import type { Host } from "../host.ts";

/** `waybeam secret ...`: the key of the secrets in the database. */
export function addSecret(program: Command, host: Host): void {
  const secret = program.command("secret").description("the key that seals the secrets in the database");
  secret
    .command("rotate")
    .description(
      "make a new key and seal all secrets by it. The service must be stopped. May be ended at any moment: the next start, or this command again, goes on",
    )
    .addHelpText("after", examples("waybeam secret rotate", "waybeam secret rotate --config waybeam.json"))
    .action(async (_options: object, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const file = await host.rotateSecret(config);
      host.terminal.err(
        `All secrets are sealed by a new key, which is in ${file}: back it up apart from the database.\n`,
      );
    });
}
