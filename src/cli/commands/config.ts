import type { Command } from "commander";
import { examples } from "../context.ts";
import type { Host } from "../host.ts";
import { plain, table } from "../text.ts";

/** `waybeam config`. */
export function addConfig(program: Command, host: Host): void {
  program
    .command("config")
    .description("print the configuration in force, and where each value comes from")
    .option("--json", "one JSON object for each setting, one a line")
    .addHelpText("after", examples("waybeam config", "WAYBEAM_HTTP_PORT=9090 waybeam config", "waybeam config --json"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const { settings } = await host.readConfig(config);
      if (options.json) await host.terminal.out(settings.map((each) => `${JSON.stringify(each)}\n`).join(""));
      else {
        const rows = settings.map(({ key, value, unit, from, env }) => [
          key,
          `${plain(value)}${unit && unit !== "port" ? ` ${unit}` : ""}`,
          from,
          env,
        ]);
        await host.terminal.out(table(["KEY", "VALUE", "FROM", "VARIABLE"], rows));
      }
    });
}
