import type { Command } from "commander";
import { about } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { listAll } from "../pages.ts";
import { payloadOf, printLines, printOne } from "../print.ts";
import { findRule, rulePath, rulesPath } from "../rules.ts";
import { isRecord, plain, records, table } from "../text.ts";
import { addRuleAdd } from "./rule-add.ts";
import { addRuleSet } from "./rule-set.ts";
import { addRuleTry } from "./rule-try.ts";

/** `waybeam rule ...`: the rules that watch devices. */
export function addRule(program: Command, host: Host): void {
  const rule = program.command("rule").description("list, make, change, try and remove alert rules");
  addList(rule, host);
  addRuleAdd(rule, host);
  addShow(rule, host);
  addRuleSet(rule, host);
  addRuleTry(rule, host);
  addRemove(rule, host);
}

function addList(rule: Command, host: Host): void {
  const { terminal } = host;
  rule
    .command("list")
    .description("list the rules that the user sees")
    .option("--device <id>", "only those that watch this device, by itself or by a group")
    .option("--json", "JSON Lines, one rule each, as the API gives it")
    .addHelpText("after", examples("waybeam rule list", "waybeam rule list --device 490154203237518"))
    .action(async ({ device, json }: { device?: string; json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const rules =
        device === undefined
          ? await listAll(client, rulesPath, "rules")
          : await about(device, listAll(client, `/api/devices/${encodeURIComponent(device)}/alertRules`, "rules"));
      if (json) return await printLines(host, rules);
      const rows = rules.map(({ id, name, type, devices, groups, channels, enabled, critical, problems }) => {
        const watches = [counted(devices, "device"), counted(groups, "group")].filter((text) => text !== "").join(", ");
        const state = [enabled === false ? "off" : "on", critical === true ? "critical" : ""].filter(
          (text) => text !== "",
        );
        const wrong = Array.isArray(problems) ? problems.map(plain).join("; ") : "";
        return [plain(id), plain(name), plain(type), watches, told(channels), state.join(", "), wrong];
      });
      await terminal.out(table(["ID", "NAME", "TYPE", "WATCHES", "TELLS", "STATE", "PROBLEMS"], rows));
      if (rows.length === 0) terminal.err("There is no rule yet: `waybeam rule add NAME` makes one.\n");
    });
}

function counted(list: unknown, thing: string): string {
  const count = Array.isArray(list) ? list.length : 0;
  return count === 0 ? "" : `${count} ${thing}${count === 1 ? "" : "s"}`;
}

function told(channels: unknown): string {
  if (!isRecord(channels)) return "";
  return Object.entries(channels)
    .filter(([, list]) => records(list).length > 0)
    .map(([name, list]) => `${records(list).length} ${plain(name)}`)
    .join(", ");
}

function addShow(rule: Command, host: Host): void {
  rule
    .command("show")
    .description("show a rule")
    .argument("<rule>", "its id or name")
    .option("--json", "JSON, as the API gives it: what `rule add --file` takes")
    .addHelpText("after", examples("waybeam rule show Speed", "waybeam rule show Speed --json > speed.json"))
    .action(async (given: string, { json }: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const found = await findRule(client, given);
      await printOne(host, payloadOf(await client.call("GET", rulePath(found))), json);
    });
}

function addRemove(rule: Command, host: Host): void {
  rule
    .command("remove")
    .description("remove rules; the alerts that they raised stay")
    .argument("<rule...>", "ids or names")
    .addHelpText("after", examples("waybeam rule remove Speed"))
    .action(async (given: string[], _options: object, command: Command) => {
      const client = await clientFor(host, command);
      for (const each of given) {
        const found = await findRule(client, each);
        await client.call("DELETE", rulePath(found));
        host.terminal.err(`removed ${plain(found.name)}\n`);
      }
    });
}
