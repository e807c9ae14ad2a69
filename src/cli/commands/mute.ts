import { type Command, Option } from "commander";
import { parseDuration } from "../../model/duration.ts";
import { type ApiClient, about } from "../client.ts";
import { clientFor, examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host } from "../host.ts";
import { parseMoment } from "../moment.ts";
import { listAll } from "../pages.ts";
import { printLines, printOne, tellWarnings } from "../print.ts";
import { findRule, rulePath } from "../rules.ts";
import { isRecord, plain, table } from "../text.ts";

/** `waybeam mute ...`: devices and rules of whose alerts nobody is told for a time. */
export function addMute(program: Command, host: Host): void {
  const mute = program.command("mute").description("tell nobody of the alerts of a device or a rule for a time");
  addKind(mute, host, "device");
  addKind(mute, host, "rule");
  addList(mute, host);
  addEnd(mute, host);
}

interface MuteOptions {
  readonly for?: string;
  readonly until?: string;
  readonly note?: string;
  readonly critical?: boolean;
  readonly json?: boolean;
}

type Kind = "device" | "rule";
const subjects = {
  device: { name: "<id>", what: "id of the device" },
  rule: { name: "<rule>", what: "id or name of the rule" },
} as const;
const shown = { device: "490154203237518", rule: "Speed" } as const;

function addKind(mute: Command, host: Host, kind: Kind): void {
  mute
    .command(kind)
    .description(`mute a ${kind}: its alerts are stored all the same, and its commands go out`)
    .argument(subjects[kind].name, subjects[kind].what)
    .addOption(new Option("--for <time>", "for how long: 90m, 8h, 7d; 30d at most").conflicts("until"))
    .option("--until <time>", "until when: RFC 3339, UTC where it has no offset")
    .option("--note <text>", "what others should know")
    .option("--critical", "mute critical alerts, too")
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples(`waybeam mute ${kind} ${shown[kind]} --for 8h --note "in the workshop"`))
    .action(async (given: string, options: MuteOptions, command: Command) => {
      const { note, critical, json } = options;
      const until = untilOf(options, host.clock.now());
      const client = await clientFor(host, command);
      const body = { until, ...(note !== undefined && { note }), ...(critical === true && { critical }) };
      const answer = await about(given, client.call("PUT", await pathOf(client, kind, given), body));
      tellWarnings(host, answer);
      await printOne(host, isRecord(answer.mute) ? answer.mute : {}, json);
    });
}

function untilOf({ for: duration, until }: MuteOptions, now: number): string {
  if (duration !== undefined) {
    const ms = parseDuration(duration);
    if (ms === undefined || ms <= 0 || ms > 1e12)
      throw new CliError("usage", `--for: not a time: ${plain(duration)}`, "Give a time like 90m, 8h, 7d.");
    return new Date(now + ms).toISOString();
  }
  if (until === undefined) throw new CliError("usage", "until when?", "Give --for or --until.");
  const moment = /^\d{4}-/.test(until) ? parseMoment(until, now) : undefined;
  if (moment === undefined)
    throw new CliError("usage", `--until: not a time: ${plain(until)}`, "Give a time like 2026-11-21T10:00:00Z.");
  return new Date(moment).toISOString();
}

async function pathOf(client: ApiClient, kind: Kind, given: string): Promise<string> {
  if (kind === "device") return `/api/devices/${encodeURIComponent(given)}/mute`;
  return `${rulePath(await findRule(client, given))}/mute`;
}

function addList(mute: Command, host: Host): void {
  mute
    .command("list")
    .description("list what is muted, until when and by whom")
    .option("--json", "JSON Lines, one mute each, as the API gives it")
    .addHelpText("after", examples("waybeam mute list", "waybeam mute list --json | jq -r .until"))
    .action(async ({ json }: { json?: boolean }, command: Command) => {
      const mutes = await listAll(await clientFor(host, command), "/api/mutes", "mutes");
      if (json) return await printLines(host, mutes);
      const rows = mutes.map(({ deviceId, ruleId, name, since, until, user, note, critical }) => {
        const what = deviceId === undefined ? ["rule", ruleId] : ["device", deviceId];
        return [...what, name, since, until, user, critical === true ? "critical too" : "", note ?? ""].map(plain);
      });
      await host.terminal.out(table(["WHAT", "ID", "NAME", "SINCE", "UNTIL", "BY", "ALERTS", "NOTE"], rows));
      if (rows.length === 0) host.terminal.err("Nothing is muted.\n");
    });
}

function addEnd(mute: Command, host: Host): void {
  mute
    .command("end")
    .description("end mutes: people are told again from now on")
    .addOption(new Option("--device <id...>", "ids of devices"))
    .addOption(new Option("--rule <rule...>", "ids or names of rules"))
    .addHelpText("after", examples("waybeam mute end --device 490154203237518", "waybeam mute end --rule Speed"))
    .action(async ({ device = [], rule = [] }: { device?: string[]; rule?: string[] }, command: Command) => {
      if (device.length + rule.length === 0) throw new CliError("usage", "which one?", "Give --device or --rule.");
      const client = await clientFor(host, command);
      for (const [kind, all] of [
        ["device", device],
        ["rule", rule],
      ] as const)
        for (const given of all) {
          await about(given, client.call("DELETE", await pathOf(client, kind, given)));
          host.terminal.err(`${plain(given)} is not muted\n`);
        }
    });
}
