import type { Command } from "commander";
import { alertHead, alertRow } from "../alerts.ts";
import { clientFor, examples } from "../context.ts";
import { followAlerts } from "../follow.ts";
import type { Host } from "../host.ts";
import { listIn, printLines } from "../print.ts";
import { fromOption, type RangeOptions, rangeOf, toOption } from "../range.ts";
import { addAlertInbox } from "./alert-inbox.ts";

/** Alerts in one answer. */
const pageSize = 1000;

/** `waybeam alert ...`: what the rules found. */
export function addAlert(program: Command, host: Host): void {
  const alert = program.command("alert").description("list and follow the alerts that rules raised, and see to them");
  addList(alert, host);
  addFollow(alert, host);
  addAlertInbox(alert, host);
}

interface ListOptions extends RangeOptions {
  readonly name?: string;
  readonly json?: boolean;
}

function addList(alert: Command, host: Host): void {
  alert
    .command("list")
    .description("list all alerts of a device in a time range, by time")
    .argument("<device>", "the device's id")
    .addOption(fromOption())
    .addOption(toOption())
    .option("--name <name>", "only alerts of the rule with this name")
    .option("--json", "JSON Lines, one alert each, as the API gives it")
    .addHelpText(
      "after",
      examples(
        "waybeam alert list 490154203237518 --from 7d",
        "waybeam alert list 490154203237518 --name Speed --json | jq .facts.value",
      ),
    )
    .action((device: string, options: ListOptions, command: Command) => list(host, device, options, command));
}

async function list(host: Host, device: string, options: ListOptions, command: Command): Promise<void> {
  const { terminal, clock } = host;
  const range = rangeOf(options, clock.now());
  const client = await clientFor(host, command);
  const asked = { ...range, limit: pageSize, ...(options.name !== undefined && { alertName: options.name }) };
  let count = 0;
  let cursor: unknown;
  do {
    const page = cursor === undefined ? asked : { ...asked, cursor };
    const answer = await client.device("POST", device, "/alerts", page);
    const alerts = listIn(answer, "alerts");
    if (options.json) await printLines(host, alerts);
    else {
      if (count === 0 && alerts.length > 0) await terminal.out(alertHead());
      await terminal.out(alerts.map((alert) => alertRow(alert)).join(""));
    }
    count += alerts.length;
    cursor = answer.nextCursor;
  } while (typeof cursor === "string");
  if (!options.json) terminal.err(`${count === 1 ? "1 alert" : `${count} alerts`}\n`);
}

function addFollow(alert: Command, host: Host): void {
  alert
    .command("follow")
    .description("print alerts as they are found, including late ones, and what becomes of them, until Ctrl-C")
    .argument("[device...]", "ids of devices; if none is given, all that the user sees")
    .option("--json", "JSON Lines: an alert as the API gives it, each time that it is told")
    .addHelpText("after", examples("waybeam alert follow", "waybeam alert follow 490154203237518 --json"))
    .action(async (devices: string[], { json = false }: { json?: boolean }, command: Command) => {
      const client = await clientFor(host, command);
      await followAlerts(host, client, { devices, json });
    });
}
