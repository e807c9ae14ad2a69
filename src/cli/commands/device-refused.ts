import type { Command } from "commander";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { plain, records, table } from "../text.ts";

/** `waybeam device refused`. */
export function addDeviceRefused(device: Command, host: Host): void {
  device
    .command("refused")
    .description("show reports of a device that became no position")
    .argument("<id>", "device")
    .option("--json", "the answer of the API as one line of JSON")
    .addHelpText("after", examples("waybeam device refused 490154203237518"))
    .action(async (id: string, options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const { refused } = await client.device("GET", id, "/refused");
      const { terminal } = host;
      if (options.json) return await terminal.out(`${JSON.stringify({ refused })}\n`);
      const rows = records(refused).map(({ dateTime, receivedAt, cause, report }) => [
        plain(cause),
        plain(dateTime),
        plain(receivedAt),
        JSON.stringify(report),
      ]);
      await terminal.out(table(["CAUSE", "ITS TIME", "RECEIVED", "REPORT"], rows));
    });
}
