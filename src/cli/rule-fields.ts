import type { Command } from "commander";
import { parseDuration } from "../model/duration.ts";
import { collect, collectTag, named } from "./change.ts";
import type { Answer, ApiClient } from "./client.ts";
import { CliError } from "./exit.ts";
import type { Host } from "./host.ts";
import { inputJson, inputSecret } from "./input.ts";
import { listIn } from "./print.ts";
import { isRecord, plain, records } from "./text.ts";
import { findZones } from "./zones.ts";

/** Options that describe a rule. */
export interface RuleOptions {
  readonly file?: string;
  readonly type?: string;
  readonly set: Readonly<Record<string, string>>;
  readonly zone: readonly string[];
  readonly device: readonly string[];
  readonly group: readonly string[];
  readonly email: readonly string[];
  readonly sms: readonly string[];
  readonly webhook: readonly string[];
  readonly webhookSecretFile?: string;
  readonly slack: readonly string[];
  readonly teams: readonly string[];
  readonly telegram: readonly string[];
  readonly telegramTokenFile?: string;
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
    .option("--type <type>", "what it looks for: docs/generated/alert-types.md")
    .option("--set <parameter=value>", "a parameter of the type, such as kmh=80; may be repeated", collectTag, {})
    .option("--zone <zone>", "a zone of the type, by id or name; may be repeated", collect, [])
    .option("--group <group>", "a group whose devices it watches, by id or name; may be repeated", collect, [])
    .option("--email <address>", "who is told by e-mail; may be repeated", collect, [])
    .option("--sms <number>", "who is told by SMS; may be repeated", collect, [])
    .option("--webhook <url>", "an address that gets the alerts as JSON; may be repeated", collect, [])
    .option("--webhook-secret-file <file>", "file with the key that signs what goes to --webhook")
    .option("--slack <url>", "an incoming webhook of Slack; may be repeated", collect, [])
    .option("--teams <url>", "an incoming webhook of Microsoft Teams; may be repeated", collect, [])
    .option("--telegram <chat>", "a Telegram chat, by id or @name; may be repeated", collect, [])
    .option("--telegram-token-file <file>", "file with the token of the bot that writes to --telegram")
    .option("--hold <duration>", "for how long it must be true: 30s, 5m")
    .option("--cooldown <duration>", "the shortest time between two alerts: 10m, 2h")
    .option("--text <text>", "own text, with placeholders such as {{DeviceName}}")
    .option("--critical", "its alerts are critical")
    .option("--when-over", "tell people of the end, too");
}

/** A rule as the API shows it, without what only the service sets. */
function settable({ id: _i, creation: _c, modification: _m, problems: _p, mute: _u, ...written }: Answer): Answer {
  return written;
}

/** The body of a rule that the options describe, laid over that of the file, or else over the rule that is there. */
export async function ruleBody(
  host: Host,
  client: ApiClient,
  options: RuleOptions & { readonly name?: string | undefined },
  present: Answer = {},
): Promise<Answer> {
  const { file, name, type, text, critical, whenOver } = options;
  const base = file === undefined ? present : await inputJson(host.terminal, file);
  if (!isRecord(base)) throw new CliError("usage", `${plain(file)} holds no JSON object`);
  const written = settable(base);
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
    channels: await channelsOf(host, written.channels, options),
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

async function channelsOf(host: Host, present: unknown, options: RuleOptions): Promise<Answer> {
  const { email, sms, webhook, slack, teams, telegram, webhookSecretFile, telegramTokenFile } = options;
  const secret = webhookSecretFile && { secret: await inputSecret(host.terminal, webhookSecretFile) };
  const token = telegramTokenFile && { token: await inputSecret(host.terminal, telegramTokenFile) };
  return addedTo(isRecord(present) ? present : {}, {
    email: email.map((to) => ({ to })),
    sms: sms.map((to) => ({ to })),
    webhook: [
      ...webhook.map((url) => ({ url, ...secret })),
      ...slack.map((url) => ({ url, format: "slack" })),
      ...teams.map((url) => ({ url, format: "teams" })),
    ],
    telegram: telegram.map((chat) => ({ chat, ...token })),
  });
}

/** The channels with more recipients. */
function addedTo(channels: Answer, more: Readonly<Record<string, readonly object[]>>): Answer {
  const longer = Object.entries(more).filter(([, list]) => list.length > 0);
  return {
    ...channels,
    ...Object.fromEntries(longer.map(([name, list]) => [name, [...records(channels[name]), ...list]])),
  };
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
