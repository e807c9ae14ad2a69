import type { Command } from "commander";
import { collect, listSteps, named, patch, setSteps } from "../change.ts";
import type { Answer, ApiClient } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { listIn, payloadOf, printLines, printOne, tellAdded, tellWarnings } from "../print.ts";
import { plain, table } from "../text.ts";

/** `waybeam group ...`: groups of devices. */
export function addGroup(program: Command, host: Host): void {
  const group = program.command("group").description("list, make, change and remove groups of devices");
  addList(group, host);
  addAdd(group, host);
  addShow(group, host);
  addSet(group, host);
  addRemove(group, host);
}

function addList(group: Command, host: Host): void {
  group
    .command("list")
    .description("list the groups of the account")
    .option("--json", "JSON Lines, one group each, as the API gives it")
    .addHelpText("after", examples("waybeam group list"))
    .action(async (options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const groups = listIn(await client.call("GET", "/api/groups"), "groups");
      if (options.json) return await printLines(host, groups);
      const rows = groups.map(({ id, name, devices, description }) => [
        plain(id),
        plain(name),
        String(Array.isArray(devices) ? devices.length : 0),
        plain(description),
      ]);
      await host.terminal.out(table(["ID", "NAME", "DEVICES", "DESCRIPTION"], rows));
      if (rows.length === 0) host.terminal.err("There is no group yet: `waybeam group add NAME` makes one.\n");
    });
}

interface GroupOptions {
  readonly description?: string;
  readonly device: readonly string[];
  readonly json?: boolean;
}

function addAdd(group: Command, host: Host): void {
  group
    .command("add")
    .description("make a group")
    .argument("<name>", "its name")
    .option("--description <text>", "description")
    .option("--device <id>", "a device of it; may be repeated", collect, [])
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples('waybeam group add "North" --device 490154203237518 --device 490154203237526'))
    .action(async (name: string, { description, device, json }: GroupOptions, command: Command) => {
      const client = await clientFor(host, command);
      const body = { name, devices: device, ...(description !== undefined && { description }) };
      const made = await client.call("POST", "/api/groups", body);
      tellWarnings(host, made);
      await tellAdded(host, payloadOf(made), json);
    });
}

function addShow(group: Command, host: Host): void {
  group
    .command("show")
    .description("show a group")
    .argument("<group>", "its id or name")
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples("waybeam group show North"))
    .action(async (given: string, options: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      await tell(host, await client.call("GET", pathOf(await find(client, given))), options.json);
    });
}

interface SetOptions extends GroupOptions {
  readonly name?: string;
  readonly removeDevice: readonly string[];
  readonly unset: readonly string[];
}

function addSet(group: Command, host: Host): void {
  group
    .command("set")
    .description("change a group")
    .argument("<group>", "its id or name")
    .option("--name <name>", "name")
    .option("--description <text>", "description")
    .option("--device <id>", "a device to take in; may be repeated", collect, [])
    .option("--remove-device <id>", "a device to take out; may be repeated", collect, [])
    .option("--unset <field>", "a field to empty: description, devices; may be repeated", collect, [])
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples("waybeam group set North --device 490154203237534 --remove-device 490154203237518"))
    .action(async (given: string, options: SetOptions, command: Command) => {
      const { name, description, device, removeDevice, unset, json } = options;
      const client = await clientFor(host, command);
      const present = await find(client, given);
      const members = { add: device, remove: removeDevice };
      const steps = [
        ...setSteps({ name, description }, unset),
        ...(await listSteps("devices", members, async () => present)),
      ];
      await tell(host, await patch(client, pathOf(present), steps), json);
    });
}

function addRemove(group: Command, host: Host): void {
  group
    .command("remove")
    .description("remove groups; their devices stay")
    .argument("<group...>", "ids or names")
    .addHelpText("after", examples("waybeam group remove North"))
    .action(async (given: string[], _options: object, command: Command) => {
      const client = await clientFor(host, command);
      for (const each of given) {
        const found = await find(client, each);
        await client.call("DELETE", pathOf(found));
        host.terminal.err(`removed ${plain(found.name)}\n`);
      }
    });
}

async function find(client: ApiClient, given: string): Promise<{ readonly id: string } & Answer> {
  return named("group", listIn(await client.call("GET", "/api/groups"), "groups"), given);
}

function pathOf({ id }: { readonly id: string }): string {
  return `/api/groups/${encodeURIComponent(id)}`;
}

async function tell(host: Host, answer: Answer, json: boolean | undefined): Promise<void> {
  tellWarnings(host, answer);
  await printOne(host, payloadOf(answer), json);
}
