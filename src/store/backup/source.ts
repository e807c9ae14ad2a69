import { statSync } from "node:fs";
import { checkTogether, databaseOf } from "../sqlite/folder.ts";
import { DataFolderInUse, lockFolder } from "../sqlite/lock.ts";
import { isThere } from "./files.ts";
import { names } from "./manifest.ts";
import { giveLockToOwner } from "./owner.ts";
import { isRestorePending } from "./placing.ts";
import { BackupRefused } from "./refused.ts";

const notOurs =
  "Name the data folder of the service by WAYBEAM_DATA or --config. `waybeam check` also takes the folder of a backup.";

/**
 * Checks that a folder is a data folder. The lock is given back at once, so that a service can start while the folder
 * is read. Throws `BackupRefused` or `DataFolderUnusable`.
 */
export function checkSource(directory: string, pid: number): void {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new BackupRefused(`there is no data folder ${directory}`, notOurs);
  const file = databaseOf(directory);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 && !isThere(`${file}-wal`) && !isRestorePending(directory))
    throw new BackupRefused(`${directory} is no data folder: it has no ${names.rows}`, notOurs);
  if (!isRestorePending(directory)) checkTogether(directory);
  try {
    const lock = lockFolder(directory, pid);
    try {
      if (isRestorePending(directory))
        throw new BackupRefused(
          `a restore into ${directory} was cut short`,
          "Start the service, which finishes the restore, or run `waybeam restore` again.",
        );
    } finally {
      giveLockToOwner(directory);
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof DataFolderInUse)) throw error;
  }
}
