import type { Command } from "commander";
import { collectTag } from "../change.ts";
import type { ApiClient } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { forAll } from "../many.ts";
import { listAll } from "../pages.ts";
import { isRecord, pairs, plain, records, table } from "../text.ts";
import { addDeviceAdd } from "./device-add.ts";
import { addDeviceChangeId } from "./device-change-id.ts";
import { addDeviceIdentity } from "./device-identity.ts";
import { addDeviceRefused } from "./device-refused.ts";
import { addDeviceSet } from "./device-set.ts";
import { addDeviceOldPositions } from "./old-positions.ts";

/** `waybeam device ...`: the registered devices, and those that knock. */
export function addDevice(program: Command, host: Host): void {
  const device = program.command("device").description("register, list, change and remove devices");
  addDeviceAdd(device, host);
  addList(device, host);
  addDeviceSet(device, host);
  addDeviceChangeId(device, host);
  addRemove(device, host);
  addUnknown(device, host);
  addDeviceIdentity(device, host);
  addDeviceRefused(device, host);
  addDeviceOldPositions(device, host);
}

function addList(device: Command, host: Host): void {
  const { terminal } = host;
  device
    .command("list")
    .description("list the active devices of the account")
    .option("--json", "JSON Lines, one device each, as the API gives it")
    .addHelpText("after", examples("waybeam device list", "waybeam device list --json | jq -r .id"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const devices = records((await client.call("GET", "/api/devices")).devices);
      if (options.json) for (const each of devices) await terminal.out(`${JSON.stringify(each)}\n`);
      else {
        const rows = devices.map(({ id, name, expires, min, tags }) => [
          plain(id),
          plain(name),
          plain(expires) || "never",
          plain(min),
          pairs(tags),
        ]);
        await terminal.out(table(["ID", "NAME", "EXPIRES", "PHONE", "TAGS"], rows));
        if (rows.length === 0) terminal.err("There is no device yet: `waybeam device add ID` registers one.\n");
      }
    });
}

function addRemove(device: Command, host: Host): void {
  device
    .command("remove")
    .description("remove devices and all that they ever reported")
    .argument("[id...]", "devices")
    .option(
      "--tag <key=value>",
      "instead of ids: all that have this tag; may be repeated, for those with all",
      collectTag,
      {},
    )
    .addHelpText(
      "after",
      examples("waybeam device remove 490154203237518", "waybeam device remove --tag simulated=true"),
    )
    .action(async (given: string[], { tag }: { tag: Tags }, command: Command) => {
      if ((given.length === 0) === (Object.keys(tag).length === 0))
        throw new CliError("usage", "give either ids or --tag", "Add --help to see examples.");
      const client = await clientFor(host, command);
      const ids = given.length > 0 ? given : await tagged(client, tag);
      const items = ids.map((id) => ({ id }));
      await forAll(host, items, "removed", async ({ id }) => {
        await client.device("DELETE", id);
        host.terminal.err(`removed ${plain(id)}\n`);
      });
    });
}

type Tags = Readonly<Record<string, string>>;

/** The ids of the active devices that have every one of the tags; at least one. */
async function tagged(client: ApiClient, wanted: Tags): Promise<readonly string[]> {
  const devices = records((await client.call("GET", "/api/devices")).devices);
  const found = devices.filter(({ tags }) =>
    Object.entries(wanted).every(([name, value]) => isRecord(tags) && tags[name] === value),
  );
  if (found.length === 0) throw new CliError("notFound", `no device has ${pairs(wanted)}`);
  return found.map(({ id }) => String(id));
}

function addUnknown(device: Command, host: Host): void {
  const { terminal } = host;
  device
    .command("unknown")
    .description("list trackers that connected and are not registered")
    .option("--json", "JSON Lines, one tracker each, as the API gives it")
    .addHelpText("after", examples("waybeam device unknown"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const unknown = await listAll(client, "/api/quarantine", "quarantine");
      if (options.json) for (const each of unknown) await terminal.out(`${JSON.stringify(each)}\n`);
      else {
        const rows = unknown.map(({ ids, protocol, address, lastSeen, attempts }) => [
          Array.isArray(ids) ? ids.map(plain).join(", ") : plain(ids),
          plain(protocol),
          plain(address),
          plain(lastSeen),
          plain(attempts),
        ]);
        await terminal.out(table(["IDS", "PROTOCOL", "ADDRESS", "LAST SEEN", "ATTEMPTS"], rows));
        if (rows.length > 0) terminal.err("`waybeam device add ID` registers one; it is let in at its next attempt.\n");
      }
    });
}
