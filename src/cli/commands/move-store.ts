import type { Command } from "commander";
import { examples } from "../context.ts";
import { CliError } from "../exit.ts";
import type { Host, MoveMade } from "../host.ts";
import { printOne } from "../print.ts";
import { withProgress } from "../progress.ts";

interface MoveOptions {
  readonly from?: string;
  readonly to: string;
  readonly acceptDamage: boolean;
  readonly json?: boolean;
}

const url = "postgresql://waybeam@db.example.com/waybeam";

/** `waybeam move-store`. */
export function addMoveStore(program: Command, host: Host): void {
  program
    .command("move-store")
    .description(
      "copy all data of a service from the embedded store into a PostgreSQL database, or back, and compare both. The service must be stopped. What is copied stays as it is. May be ended at any moment: the same command begins anew",
    )
    .option("--from <store>", "data folder or address of a database; without it the one of the configuration")
    .requiredOption(
      "--to <store>",
      "address of an empty database, or a folder without a database; PGPASSWORD may hold the password",
    )
    .option("--accept-damage", "end the move although the source is damaged: what can't be read is left out", false)
    .option("--json", "what was moved, as JSON")
    .addHelpText(
      "after",
      examples(`waybeam move-store --from data --to ${url}`, `waybeam move-store --from ${url} --to data`),
    )
    .action(async ({ from, to, acceptDamage, json }: MoveOptions, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const made = await moved(host, (progress) => host.moveStore(config, { from, to, acceptDamage }, progress));
      if (json) await printOne(host, { ...made }, true);
      tell(host, made);
      if (!made.isWhole) throw unfinished(made);
      host.terminal.err(next(made));
    });
}

/** Ctrl-C is no failure: the text says how to go on. */
async function moved(
  host: Host,
  act: (progress: (text: () => string) => void) => Promise<MoveMade>,
): Promise<MoveMade> {
  try {
    return await withProgress(host, act);
  } catch (error) {
    if (host.interrupted.aborted)
      host.terminal.err("The move has not ended. Run the same command again: it begins anew.\n");
    throw error;
  }
}

function tell({ terminal }: Host, made: MoveMade): void {
  for (const what of made.unreadable) terminal.err(`Can't be read in the source: ${what}\n`);
  for (const difference of made.differences) terminal.err(`Not the same: ${difference}\n`);
}

function unfinished({ from, to, differences }: MoveMade): CliError {
  if (differences.length > 0)
    return new CliError(
      "failure",
      `${to} does not hold what ${from} holds, and no service opens it`,
      "Look at its disk or its server, and run the same command again. The source is as it was.",
    );
  return new CliError(
    "failure",
    `${from} is damaged; all that can be read is copied, and no service opens ${to} yet`,
    "Restore a backup and move that. Or run the same command with --accept-damage: what can't be read is missing then.",
  );
}

/** What was done, and what to do next. */
function next({ from, to, folder, toFolder, devices, positions, rows }: MoveMade): string {
  const content = `${devices} devices and ${positions} positions, ${rows} rows in all`;
  const setting = toFolder
    ? `Unset WAYBEAM_STORE_URL (store.url), set WAYBEAM_DATA (data) to ${folder}`
    : `Set WAYBEAM_STORE_URL (store.url) to the address of the database, leave WAYBEAM_DATA (data) at ${folder}, which has the keys`;
  // The folder that was copied has the keys of the database, so its operator must not delete all of it.
  const old = toFolder
    ? "delete it"
    : "delete its waybeam.db and positions.db, and keep the rest: nothing opens the database without secret.key";
  return `Moved ${content}, from ${from} to ${to}, read both, and found them the same.
${setting}, and start the service. Don't start it with the old setting: what trackers then report goes to the old store alone.
The old store, ${from}, is as it was. When the service runs well, ${old}.
`;
}
