import type { Command } from "commander";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { isRecord, plain, records, table } from "../text.ts";

/** `waybeam device identity`. */
export function addDeviceIdentity(device: Command, host: Host): void {
  device
    .command("identity")
    .description("show by which protocols a device reports, and who was refused in its name")
    .argument("<id>", "device")
    .option("--json", "the answer of the API as one line of JSON")
    .addHelpText("after", examples("waybeam device identity 490154203237518"))
    .action(async (id: string, options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const { identity } = await client.device("GET", id, "/identity");
      const { terminal } = host;
      if (!isRecord(identity)) return;
      if (options.json) return await terminal.out(`${JSON.stringify(identity)}\n`);
      const ways = records(identity.ways).map((way) => [
        plain(way.protocol),
        plain(way.transport),
        plain(way.since),
        plain(way.address),
        plain(way.trustedSince) || "not yet",
      ]);
      await terminal.out(table(["PROTOCOL", "OVER", "SINCE", "FIRST FROM", "TRUSTED SINCE"], ways));
      if (isRecord(identity.lastSeen)) {
        const { protocol, transport, address, dateTime } = identity.lastSeen;
        const last = [protocol, transport, address, dateTime].map((value) => plain(value));
        await terminal.out(`\n${table(["LAST PROTOCOL", "OVER", "FROM", "AT"], [last])}`);
      }
      const refused = records(identity.refused).map((knock) => [
        plain(knock.cause),
        plain(knock.protocol),
        plain(knock.address),
        plain(knock.firstSeen),
        plain(knock.lastSeen),
        plain(knock.attempts),
      ]);
      if (refused.length === 0) return;
      await terminal.out(
        `\n${table(["REFUSED FOR", "PROTOCOL", "LAST FROM", "FIRST SEEN", "LAST SEEN", "ATTEMPTS"], refused)}`,
      );
    });
}
