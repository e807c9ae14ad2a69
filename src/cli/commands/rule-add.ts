import type { Command } from "commander";
import { collect } from "../change.ts";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { payloadOf, printOne, tellWarnings } from "../print.ts";
import { type RuleOptions, ruleBody, withRuleOptions } from "../rule-fields.ts";
import { rulesPath } from "../rules.ts";
import { plain } from "../text.ts";

/** `waybeam rule add`. */
export function addRuleAdd(rule: Command, host: Host): void {
  withRuleOptions(rule.command("add").description("make a rule"))
    .option("--device <id>", "a device that it watches; may be repeated", collect, [])
    .option("--json", "JSON, as the API gives it")
    .addHelpText(
      "after",
      examples(
        "waybeam rule add --name Speed --type speedOver --set kmh=80 --device 490154203237518 --email ops@example.com",
        "waybeam rule add --name Depot --type allowedZone --zone Depot --group Trucks --critical --when-over",
        "waybeam rule add --type fuelDecrease --set points=10 --set minutes=15 --device 490154203237518 --cooldown 1h",
        "waybeam rule add --file rule.json",
      ),
    )
    .action(async ({ json, ...options }: RuleOptions & { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const made = await client.call("POST", rulesPath, await ruleBody(host, client, options));
      tellWarnings(host, made);
      if (json) return await printOne(host, payloadOf(made), true);
      host.terminal.err(`added ${plain(made.name)}, ${plain(made.id)}\n`);
      if (Array.isArray(made.problems))
        for (const each of made.problems) host.terminal.err(`problem: ${plain(each)}\n`);
    });
}
