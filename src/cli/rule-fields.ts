import type { Command } from "commander";
import { parseDuration } from "../model/duration.ts";
import { collect, collectTag, named } from "./change.ts";
import type { Answer, ApiClient } from "./client.ts";
import { CliError } from "./exit.ts";
import type { Host } from "./host.ts";
import { inputJson } from "./input.ts";
import { listIn } from "./print.ts";
import { isRecord, plain } from "./text.ts";
import { findZones } from "./zones.ts";

/** Options that describe a rule. */
export interface RuleOptions {
  readonly file?: string;
  readonly name?: string;
  readonly type?: string;
  readonly set: Readonly<Record<string, string>>;
  readonly zone: readonly string[];
  readonly device: readonly string[];
  readonly group: readonly string[];
  readonly email: readonly string[];
  readonly sms: readonly string[];
  readonly hold?: string;
  readonly cooldown?: string;
  readonly text?: string;
  readonly critical?: boolean;
  readonly whenOver?: boolean;
}

/** Gives a command the options that describe a rule. */
export function withRuleOptions(command: Command): Command {
  return command
    .option("--file <file>", "the rule as JSON, as the API takes it; - is standard input. Other options come on top")
    .option("--name <name>", "its name")
    .option("--type <type>", "what it looks for: docs/generated/alert-types.md")
    .option("--set <parameter=value>", "a parameter of the type, such as kmh=80; may be repeated", collectTag, {})
    .option("--zone <zone>", "a zone of the type, by id or name; may be repeated", collect, [])
    .option("--group <group>", "a group whose devices it watches, by id or name; may be repeated", collect, [])
    .option("--email <address>", "who is told by e-mail; may be repeated", collect, [])
    .option("--sms <number>", "who is told by SMS; may be repeated", collect, [])
    .option("--hold <duration>", "for how long it must be true: 30s, 5m")
    .option("--cooldown <duration>", "the shortest time between two alerts: 10m, 2h")
    .option("--text <text>", "own text, with placeholders such as {{DeviceName}}")
    .option("--critical", "its alerts are critical")
    .option("--when-over", "tell people of the end, too");
}

/** The body of a rule that the options describe, laid over that of the file, if there is one. */
export async function ruleBody(host: Host, client: ApiClient, options: RuleOptions): Promise<Answer> {
  const { file, name, type, text, critical, whenOver } = options;
  const base = file === undefined ? {} : await inputJson(host.terminal, file);
  if (!isRecord(base)) throw new CliError("usage", `${plain(file)} holds no JSON object`);
  const { id: _id, creation: _creation, modification: _modification, problems: _problems, ...written } = base;
  const wanted = type ?? written.type;
  if (typeof wanted !== "string")
    throw new CliError("usage", "what does it look for?", "Give --type, or a --file with one.");
  // Loaded here, since commands that need no types are to start fast.
  const { alertTypes } = await import("../contract/alert-parameters.ts");
  if (!alertTypes.includes(wanted))
    throw new CliError("usage", `there is no type ${plain(wanted)}`, `Types: ${alertTypes.join(", ")}.`);
  return {
    ...written,
    name: name ?? written.name ?? wanted,
    type: wanted,
    parameters: await parametersOf(client, written.parameters, options),
    ...added(written, "devices", options.device),
    ...added(written, "groups", await groupIds(client, options.group)),
    channels: channelsOf(written.channels, options),
    ...hysteresisOf(written.hysteresis, options),
    ...(text !== undefined && { text }),
    ...(critical && { critical }),
    ...(whenOver && { notifyWhenOver: true }),
  };
}

async function parametersOf(client: ApiClient, present: unknown, { set, zone }: RuleOptions): Promise<object> {
  const given = Object.entries(set).map(([name, value]): [string, unknown] => [name, parsed(value)]);
  const zones = zone.length > 0 ? (await findZones(client, zone)).map(({ id }) => id) : undefined;
  return { ...(isRecord(present) && present), ...Object.fromEntries(given), ...(zones && { zones }) };
}

/** A number, a truth value or a list where the text is one in JSON, else the text. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

function added(present: Answer, field: string, more: readonly string[]): Answer {
  const list = present[field];
  return more.length === 0 ? {} : { [field]: [...(Array.isArray(list) ? list : []), ...more] };
}

async function groupIds(client: ApiClient, given: readonly string[]): Promise<readonly string[]> {
  if (given.length === 0) return [];
  const all = listIn(await client.call("GET", "/api/groups"), "groups");
  return given.map((each) => named("group", all, each).id);
}

function channelsOf(present: unknown, { email, sms }: RuleOptions): Answer {
  const channels = isRecord(present) ? present : {};
  const to = (list: readonly string[]) => list.map((address) => ({ to: address }));
  const more = (name: string, list: readonly string[]) => {
    const before = channels[name];
    return list.length === 0 ? {} : { [name]: [...(Array.isArray(before) ? before : []), ...to(list)] };
  };
  return { ...channels, ...more("email", email), ...more("sms", sms) };
}

function hysteresisOf(present: unknown, { hold, cooldown }: RuleOptions): Answer {
  const given = {
    ...(hold !== undefined && { holdSeconds: secondsOf("--hold", hold) }),
    ...(cooldown !== undefined && { cooldownSeconds: secondsOf("--cooldown", cooldown) }),
  };
  return Object.keys(given).length > 0 ? { hysteresis: { ...(isRecord(present) && present), ...given } } : {};
}

function secondsOf(option: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new CliError("usage", `${option}: not a duration like 30s, 5m or 2h: ${plain(text)}`);
  return ms / 1000;
}
