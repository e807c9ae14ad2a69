import { isDeepStrictEqual } from "node:util";
import type { Command } from "commander";
import { changeSteps, collect, patch } from "../change.ts";
import type { Answer } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { payloadOf, printOne, tellWarnings } from "../print.ts";
import { type RuleOptions, ruleBody, withRuleOptions } from "../rule-fields.ts";
import { findRule, rulePath, tellProblems } from "../rules.ts";

interface SetOptions extends RuleOptions {
  readonly name?: string;
  readonly unset: readonly string[];
  readonly enable?: boolean;
  readonly disable?: boolean;
  readonly json?: boolean;
}

/** `waybeam rule set`. */
export function addRuleSet(rule: Command, host: Host): void {
  withRuleOptions(
    rule
      .command("set")
      .description("change a rule: what may be repeated is added to what the rule has, anything else takes its place")
      .argument("<rule>", "its id or name"),
  )
    .option("--name <name>", "name")
    .option("--device <id>", "a device that it watches; may be repeated", collect, [])
    .option(
      "--unset <field>",
      "a field of the API to empty first, such as devices or channels; may be repeated",
      collect,
      [],
    )
    .option("--disable", "let it watch nothing until it is enabled again")
    .option("--enable", "let it watch again")
    .option("--json", "JSON, as the API gives it")
    .addHelpText(
      "after",
      examples(
        "waybeam rule set Speed --set kmh=90 --email night@example.com",
        "waybeam rule set Speed --unset devices --group Trucks",
        "waybeam rule show Speed --json > speed.json && waybeam rule set Speed --file speed.json",
      ),
    )
    .action(async (given: string, options: SetOptions, command: Command) => {
      const client = await clientFor(host, command);
      const present = payloadOf(await client.call("GET", rulePath(await findRule(client, given))));
      const wanted = {
        ...(await ruleBody(host, client, options, without(present, options.unset))),
        ...stateOf(options),
      };
      const steps = stepsTo(present, wanted);
      // A script may say twice what a rule is to be.
      const changed = steps.length === 0 ? present : await patch(client, rulePath({ id: String(present.id) }), steps);
      tellWarnings(host, changed);
      await printOne(host, payloadOf(changed), options.json);
      if (!options.json) tellProblems(host, changed);
    });
}

/** The rule without these fields, as the API knows them. */
function without(rule: Answer, unset: readonly string[]): Answer {
  const unknown = unset.find((name) => rule[name] === undefined);
  if (unknown !== undefined) throw new CliError("usage", `a rule has no field ${unknown}`);
  return Object.fromEntries(
    Object.entries(rule).map(([name, value]) => [name, unset.includes(name) ? emptied(value) : value]),
  );
}

function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return typeof value === "object" ? {} : null;
}

function stateOf({ enable, disable }: SetOptions): { readonly enabled?: boolean } {
  if (enable && disable) throw new CliError("usage", "a rule is either enabled or disabled");
  return enable || disable ? { enabled: enable === true } : {};
}

/** Sets the fields that differ; a rule that somebody else changes meanwhile stays as that person left it. */
function stepsTo(present: Answer, wanted: Answer) {
  return Object.keys(wanted)
    .filter((name) => !isDeepStrictEqual(present[name], wanted[name]))
    .flatMap((name) => changeSteps(present, name, () => wanted[name]));
}
