import type { Command } from "commander";
import { alertHead, alertRow } from "../alerts.ts";
import type { ApiClient } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { tellWarnings } from "../print.ts";
import { Progress } from "../progress.ts";
import { fromOption, type RangeOptions, rangeOf, toOption } from "../range.ts";
import { type RuleOptions, ruleBody, withRuleOptions } from "../rule-fields.ts";
import { findRule, rulesPath } from "../rules.ts";
import { isRecord, plain } from "../text.ts";

interface TryOptions extends Omit<RuleOptions, "device">, RangeOptions {
  readonly device: string;
  readonly json?: boolean;
}

/** `waybeam rule try`. */
export function addRuleTry(rule: Command, host: Host): void {
  withRuleOptions(
    rule
      .command("try")
      .description("say what a rule would have found in a device's history; nobody is told, nothing is stored")
      .argument("[rule]", "id or name of a rule that is there; without it a --file or --type with what belongs to it"),
  )
    .requiredOption("--device <id>", "the device whose history is looked at")
    .addOption(fromOption())
    .addOption(toOption())
    .option("--json", "JSON Lines, one alert each, as the API gives it, with its evidence")
    .addHelpText(
      "after",
      examples(
        "waybeam rule try Speed --device 490154203237518 --from 7d",
        "waybeam rule try --type speedOver --set kmh=90 --hold 1m --device 490154203237518 --from 30d",
        "waybeam rule try --file rule.json --device 490154203237518 --json | jq .facts",
      ),
    )
    .action((given: string | undefined, options: TryOptions, command: Command) =>
      tryRule(host, given, options, command),
    );
}

async function tryRule(host: Host, given: string | undefined, options: TryOptions, command: Command): Promise<void> {
  const range = rangeOf(options, host.clock.now());
  const client = await clientFor(host, command);
  const body = { deviceId: options.device, ...range, ...(await ruleOf(host, client, given, options)) };
  const progress = new Progress(host);
  let [alerts, positions, done] = [0, 0, false];
  for await (const line of client.lines("POST", `${rulesPath}/try`, body)) {
    if (line.success === false) throw new CliError("failure", `the trial ended early: ${plain(line.error)}`);
    if (typeof line.positions === "number") positions = line.positions;
    if (line.done === true) {
      done = true;
      tellWarnings(host, line);
    }
    if (typeof line.progress === "number") {
      const part = Math.round(line.progress * 100);
      progress.show(() => `${part} %, ${positions} positions, ${alerts} alerts`);
    }
    if (!isRecord(line.alert)) continue;
    progress.end();
    if (!options.json && alerts === 0) await host.terminal.out(alertHead());
    await host.terminal.out(options.json ? `${JSON.stringify(line.alert)}\n` : alertRow(line.alert));
    alerts += 1;
  }
  progress.end();
  if (!done) throw new CliError("unreachable", "the connection ended before the trial did");
  host.terminal.err(`${alerts === 1 ? "1 alert" : `${alerts} alerts`} in ${positions} positions\n`);
}

async function ruleOf(host: Host, client: ApiClient, given: string | undefined, options: TryOptions): Promise<object> {
  const { device: _device, from: _from, to: _to, json: _json, ...described } = options;
  if (given === undefined) return { rule: await ruleBody(host, client, { ...described, device: [] }) };
  const { file, type, set, zone } = described;
  if (file !== undefined || type !== undefined || Object.keys(set).length + zone.length > 0)
    throw new CliError("usage", "a rule is either named or described, not both");
  return { ruleId: (await findRule(client, given)).id };
}
