import type { Command } from "commander";
import { collect } from "../change.ts";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { payloadOf, tellAdded, tellWarnings } from "../print.ts";
import { type RuleOptions, ruleBody, withRuleOptions } from "../rule-fields.ts";
import { rulesPath, tellProblems } from "../rules.ts";

/** `waybeam rule add`. */
export function addRuleAdd(rule: Command, host: Host): void {
  withRuleOptions(
    rule
      .command("add")
      .description("make a rule")
      .argument("[name]", "its name; without it that of the --file, or its type"),
  )
    .option("--device <id>", "a device that it watches; may be repeated", collect, [])
    .option("--json", "JSON, as the API gives it")
    .addHelpText(
      "after",
      examples(
        "waybeam rule add Speed --type speedOver --set kmh=80 --device 490154203237518 --email ops@example.com",
        "waybeam rule add Depot --type allowedZone --zone Depot --group Trucks --critical --when-over",
        "waybeam rule add Fuel --type fuelDecrease --set points=10 --set minutes=15 --device 490154203237518 --cooldown 1h",
        "waybeam rule add SOS --type sos --group Trucks --telegram -1001234567890 --telegram-token-file bot.token",
        "waybeam rule add --file rule.json",
      ),
    )
    .action(async (name: string | undefined, { json, ...options }: AddOptions, command: Command) => {
      const client = await clientFor(host, command);
      const made = await client.call("POST", rulesPath, await ruleBody(host, client, { ...options, name }));
      tellWarnings(host, made);
      await tellAdded(host, payloadOf(made), json);
      if (!json) tellProblems(host, made);
    });
}

type AddOptions = RuleOptions & { readonly json?: boolean };
