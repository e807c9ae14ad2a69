import type { Command } from "commander";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { pairs, plain, records, table } from "../text.ts";
import { addDeviceAdd } from "./device-add.ts";
import { addDeviceSet } from "./device-set.ts";

/** `waybeam device ...`: the registered devices, and those that knock. */
export function addDevice(program: Command, host: Host): void {
  const device = program.command("device").description("register, list, change and remove devices");
  addDeviceAdd(device, host);
  addList(device, host);
  addDeviceSet(device, host);
  addRemove(device, host);
  addUnknown(device, host);
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
    .argument("<id...>", "devices")
    .addHelpText("after", examples("waybeam device remove 490154203237518"))
    .action(async (ids: string[], _options: object, command: Command) => {
      const client = await clientFor(host, command);
      for (const id of ids) {
        await client.device("DELETE", id);
        host.terminal.err(`removed ${plain(id)}\n`);
      }
    });
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
      const unknown = records((await client.call("GET", "/api/quarantine")).quarantine);
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
