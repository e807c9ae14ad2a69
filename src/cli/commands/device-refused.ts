import type { Command } from "commander";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { isRecord, plain, records, table } from "../text.ts";

const causes: Readonly<Record<string, string>> = {
  damaged: "what is stored of the device can't be read",
  tooLarge: "storing them takes more memory than there is",
  defect: "a fault of the service",
};

/** `waybeam device refused`. */
export function addDeviceRefused(device: Command, host: Host): void {
  device
    .command("refused")
    .description("show reports of a device that became no position, and whether its reports can be stored")
    .argument("<id>", "device")
    .option("--json", "the answer of the API as one line of JSON")
    .addHelpText("after", examples("waybeam device refused 490154203237518"))
    .action(async (id: string, options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const { refused, setAside } = await client.device("GET", id, "/refused");
      const { terminal } = host;
      if (options.json) return await terminal.out(`${JSON.stringify({ refused, setAside })}\n`);
      if (isRecord(setAside)) {
        const { since, cause, kept, left } = setAside;
        terminal.err(
          `Since ${plain(since)} this device's reports can't be stored: ${causes[plain(cause)] ?? plain(cause)}. ${plain(kept)} wait and are tried again, ${plain(left)} more are with the tracker; none is acknowledged. The service's log tells its operator more.\n`,
        );
      }
      const rows = records(refused).map(({ dateTime, receivedAt, cause, report }) => [
        plain(cause),
        plain(dateTime),
        plain(receivedAt),
        JSON.stringify(report),
      ]);
      await terminal.out(table(["CAUSE", "ITS TIME", "RECEIVED", "REPORT"], rows));
    });
}
