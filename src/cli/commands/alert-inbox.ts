import { type Command, InvalidArgumentError, Option } from "commander";
import { type Answer, type ApiClient, about } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import type { Host } from "../host.ts";
import { listIn, printLines, tellWarnings } from "../print.ts";
import { findRule } from "../rules.ts";
import { isRecord, plain, table } from "../text.ts";

/** Alerts that one call of the API acknowledges or closes. */
const mostAtOnce = 1000;

/** `waybeam alert inbox`, `acknowledge` and `close`: the alerts of all devices, and what people do with them. */
export function addAlertInbox(alert: Command, host: Host): void {
  addInbox(alert, host);
  for (const act of ["acknowledge", "close"] as const) addAct(alert, host, act);
}

interface InboxOptions {
  readonly state: string;
  readonly device?: string;
  readonly group?: string;
  readonly rule?: string;
  readonly type?: string;
  readonly critical?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

function addInbox(alert: Command, host: Host): void {
  const { terminal } = host;
  alert
    .command("inbox")
    .description("list the open alerts of all devices, the newest first")
    .addOption(
      new Option("--state <state>", "alerts in this state")
        .choices(["open", "acknowledged", "closed", "all"])
        .default("open"),
    )
    .option("--device <ids>", "only alerts of these devices, separated by commas")
    .option("--group <id>", "only alerts of the devices of this group")
    .option("--rule <rule>", "only alerts of this rule, by id or name")
    .option("--type <type>", "only alerts of rules of this type")
    .option("--critical", "only alerts of critical rules")
    .option("--limit <count>", "how many alerts at most", parseLimit, 50)
    .option("--json", "JSON Lines, one alert each, as the API gives it")
    .addHelpText(
      "after",
      examples("waybeam alert inbox --state all", "waybeam alert inbox --critical --json | jq -r .id"),
    )
    .action(async (options: InboxOptions, command: Command) => {
      const client = await clientFor(host, command);
      const { alerts, more } = await read(client, options);
      if (options.json) return await printLines(host, alerts);
      const rows = alerts.map((one) => {
        const { id, dateTime, deviceName, alerts: names, text, state, critical } = one;
        const mark = critical === true ? `${plain(state)}, critical` : plain(state);
        return [plain(id), plain(dateTime), plain(deviceName), mark, namesOf(names), plain(text), seenTo(one)];
      });
      await terminal.out(table(["ID", "TIME", "DEVICE", "STATE", "ALERT", "TEXT", "WHO"], rows));
      if (rows.length === 0) terminal.err(options.state === "all" ? "No alerts.\n" : `No ${options.state} alerts.\n`);
      else if (more) terminal.err("There are older alerts. Give --limit to see more.\n");
    });
}

/** The most alerts to print: as many as a person, or a script, looks through. */
function parseLimit(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be an integer from 1 to 99999.");
}

async function read(client: ApiClient, options: InboxOptions) {
  const { state, device, group, type, critical, limit } = options;
  const rule = options.rule === undefined ? undefined : (await findRule(client, options.rule)).id;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ state: state === "all" ? undefined : state, device, group, rule, type }))
    if (value !== undefined) query.set(name, value);
  if (critical) query.set("critical", "true");
  const alerts: Answer[] = [];
  for (let cursor: unknown; alerts.length < limit; ) {
    query.set("limit", String(Math.min(limit - alerts.length, mostAtOnce)));
    if (typeof cursor === "string") query.set("cursor", cursor);
    const answer = await client.call("GET", `/api/alerts?${query}`);
    alerts.push(...listIn(answer, "alerts"));
    cursor = answer.nextCursor;
    if (typeof cursor !== "string") return { alerts, more: false };
  }
  return { alerts, more: true };
}

function namesOf(names: unknown): string {
  return Array.isArray(names) ? names.map(plain).join(", ") : "";
}

/** Who saw to it, and the note. */
function seenTo({ acknowledgement, closing }: Answer): string {
  return [acknowledgement, closing]
    .filter(isRecord)
    .map(({ user, note }) => [plain(user ?? ""), plain(note ?? "")].filter((text) => text !== "").join(": "))
    .filter((text) => text !== "")
    .join("; ");
}

function addAct(alert: Command, host: Host, act: "acknowledge" | "close"): void {
  const done = act === "close" ? "closed" : "acknowledged";
  alert
    .command(act)
    .description(act === "close" ? "close alerts: nothing is left to do" : "acknowledge alerts: you see to them")
    .argument("<id...>", "ids of alerts, as `alert inbox` shows them")
    .option("--note <text>", "what others should know")
    .option("--json", "JSON Lines, one alert each, as the API gives it")
    .addHelpText(
      "after",
      examples(`waybeam alert ${act} 019ab305-9a01-7d2f-8f4e-0c6f6f0d1b22 --note "I call the driver"`),
    )
    .action(async (ids: string[], { note, json }: { note?: string; json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      const alerts: Answer[] = [];
      for (let at = 0; at < ids.length; at += mostAtOnce) {
        const some = ids.slice(at, at + mostAtOnce);
        const body = { ids: some, ...(note !== undefined && { note }) };
        const answer = await about(
          some.length === 1 ? String(some[0]) : `${some.length} alerts`,
          client.call("POST", `/api/alerts/${act}`, body),
        );
        tellWarnings(host, answer);
        alerts.push(...listIn(answer, "alerts"));
      }
      if (json) return await printLines(host, alerts);
      const changed = alerts.filter(({ state }) => state === done).length;
      host.terminal.err(`${changed} of ${alerts.length} ${alerts.length === 1 ? "alert is" : "alerts are"} ${done}\n`);
    });
}
