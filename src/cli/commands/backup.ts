import type { Command } from "commander";
import { examples } from "../context.ts";
import { CliError } from "../exit.ts";
import { inJson, lineOf } from "../findings.ts";
import type { BackupContent, Host } from "../host.ts";
import { printLines, printOne } from "../print.ts";
import { withProgress } from "../progress.ts";

interface RestoreOptions {
  readonly replace: boolean;
  readonly json?: boolean;
}

interface BackupOptions extends RestoreOptions {
  readonly withoutKeys: boolean;
}

/** Logs of SQLite that are worth a word, bytes: the service keeps them below 64 MiB by itself. */
const largeWal = 128 * 1024 * 1024;

/** `waybeam backup`. */
export function addBackup(program: Command, host: Host): void {
  program
    .command("backup")
    .description(
      "back the data folder up into a new folder, while the service runs or not, and read the backup back. It holds all that was acknowledged before it began",
    )
    .argument("<target>", "folder of the backup; made, and filled in one step when the backup is whole")
    .option("--replace", "take the place of a backup that is there, once the new one is whole", false)
    .option("--without-keys", "leave out secret.key and credentials.json: keep them elsewhere", false)
    .option("--json", "what was backed up, as JSON")
    .addHelpText("after", examples("waybeam backup /backup/monday", "waybeam backup --replace /backup/newest"))
    .action(async (target: string, options: BackupOptions, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const { replace, withoutKeys } = options;
      const wish = { target, replace, withoutKeys };
      const made = await withProgress(host, (progress) => host.backup(config, wish, progress));
      if (options.json) await printOne(host, { ...made }, true);
      host.terminal.err(`Backed up ${contentOf(made)} to ${made.folder}, and read it back.\n`);
      if (made.walBytes > largeWal)
        host.terminal.err(
          `SQLite's logs grew to ${megabytes(made.walBytes)} meanwhile; the service gives that back by and by.\n`,
        );
      host.terminal.err(
        made.withKey
          ? "The backup holds the secret key: whoever has it can read all secrets. Keep it where nobody else reads.\n"
          : `The secret key is not in it. Keep ${made.secretFile} too: without the key nobody can restore the backup.\n`,
      );
    });
}

/** `waybeam restore`. */
export function addRestore(program: Command, host: Host): void {
  program
    .command("restore")
    .description("put a backup into the data folder of the configuration and read it back. The service must be stopped")
    .argument("<backup>", "folder that `waybeam backup` made")
    .option("--replace", "where the folder holds data: move its files into a folder replaced-N in it", false)
    .option("--json", "what was restored, as JSON")
    .addHelpText("after", examples("waybeam restore /backup/monday", "WAYBEAM_DATA=/srv/other waybeam restore monday"))
    .action(async (backup: string, options: RestoreOptions, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const made = await withProgress(host, (progress) =>
        host.restore(config, { backup, replace: options.replace }, progress),
      );
      if (options.json) await printOne(host, { ...made }, true);
      host.terminal.err(`Restored ${contentOf(made)}, as of ${made.made}, into ${made.data}. Start the service.\n`);
      if (made.replaced !== undefined)
        host.terminal.err(`The files that were there are in ${made.replaced}: delete it when you don't need them.\n`);
    });
}

/** `waybeam check`. */
export function addCheck(program: Command, host: Host): void {
  program
    .command("check")
    .description(
      "read everything in the data folder, while the service runs or not, and say what is damaged or missing. Changes nothing; exit code 0 if nothing is",
    )
    .argument("[backup]", "folder of a backup to read instead")
    .option("--json", "JSON Lines: one finding each, and a summary at the end")
    .addHelpText("after", examples("waybeam check", "waybeam check /backup/monday"))
    .action(async (backup: string | undefined, { json }: { json?: boolean }, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>();
      const found = await withProgress(host, (progress) => host.check(config, backup, progress));
      const { folder, devices, positions } = found;
      const problems = found.findings.length + found.more;
      if (json) await printLines(host, [...found.findings.map(inJson), { folder, devices, positions, problems }]);
      else await host.terminal.out(found.findings.map((each) => `${lineOf(each)}\n`).join(""));
      const read = `${folder}: ${positions} positions of ${devices} devices read`;
      if (problems > 0)
        throw new CliError(
          "failure",
          `${read}, ${problems} ${problems === 1 ? "problem" : "problems"} found${found.more > 0 ? `, the first ${found.findings.length} are listed` : ""}`,
          'docs/storage.md, "Backup, restore, check", says how to go on.',
        );
      host.terminal.err(`${read}; everything is whole.\n`);
    });
}

function contentOf({ devices, positions, bytes }: BackupContent): string {
  return `${devices} devices and ${positions} positions (${megabytes(bytes)})`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
