import type { Command } from "commander";
import { wholeNumber } from "../change.ts";
import type { Answer, ApiClient } from "../client.ts";
import { clientFor, examples, operatorFor } from "../context.ts";
import type { Host } from "../host.ts";
import { printOne } from "../print.ts";
import { isRecord } from "../text.ts";

interface Options {
  readonly days: number;
  readonly account?: string;
  readonly json?: boolean;
}

const summary = "count the positions that `--position-days` would delete; deletes nothing";

/** `waybeam account old-positions`. `find` gives the id of the account that is named. */
export function addAccountOldPositions(
  account: Command,
  host: Host,
  find: (client: ApiClient, given: string) => Promise<string>,
): void {
  account
    .command("old-positions")
    .description(`${summary} (for another account: operator)`)
    .requiredOption("--days <days>", "how many days positions would be kept", wholeNumber)
    .option("--account <account>", "an account other than your own: its id or name")
    .option("--json", "JSON, as the API gives it")
    .addHelpText(
      "after",
      examples(
        "waybeam account old-positions --days 365",
        'waybeam account old-positions --days 365 --account "North Fleet"',
      ),
    )
    .action(async ({ days, account: given, json }: Options, command: Command) => {
      if (given === undefined) {
        const client = await clientFor(host, command);
        return await show(host, await client.call("GET", `/api/account/oldPositions?days=${days}`), json);
      }
      const client = await operatorFor(host, command);
      const id = encodeURIComponent(await find(client, given));
      await show(host, await client.call("GET", `/api/admin/accounts/${id}/oldPositions?days=${days}`), json);
    });
}

/** `waybeam device old-positions`. */
export function addDeviceOldPositions(device: Command, host: Host): void {
  device
    .command("old-positions")
    .description(summary)
    .argument("<id>", "device")
    .requiredOption("--days <days>", "how many days positions would be kept", wholeNumber)
    .option("--json", "JSON, as the API gives it")
    .addHelpText("after", examples("waybeam device old-positions 490154203237518 --days 365"))
    .action(async (id: string, { days, json }: Options, command: Command) => {
      const client = await clientFor(host, command);
      await show(host, await client.device("GET", id, `/oldPositions?days=${days}`), json);
    });
}

async function show(host: Host, { oldPositions }: Answer, json: boolean | undefined): Promise<void> {
  await printOne(host, isRecord(oldPositions) ? oldPositions : {}, json);
}
