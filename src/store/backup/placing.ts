import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { databaseOf } from "../sqlite/folder.ts";
import { sync } from "../sqlite/private-files.ts";
import { isThere } from "./files.ts";
import { names } from "./manifest.ts";
import { giveToOwner } from "./owner.ts";
import { BackupRefused } from "./refused.ts";

/*
 * A restore writes its files into `restore.part` and reads them back there. Then the folder becomes `restore.ready`,
 * and from that rename on the restore counts: whoever opens the data folder next finishes it. Each step below may be
 * cut short and done again.
 *   restore.part/new/*   files that are being written; a restore that ends here has changed nothing
 *   restore.ready/*      old files move here
 *   restore.placing/new  all old files are away; the new ones move into the data folder
 */
const partName = "restore.part";
const readyName = "restore.ready";
const placingName = "restore.placing";
const newName = "new";

/** What belongs to the databases, the one last by which a folder is known. `token` was made by the keys in it. */
const ofDatabases = [
  ...[names.positions, names.rows].flatMap((name) => ["-wal", "-shm", "-journal"].map((end) => `${name}${end}`)),
  "token",
  names.positions,
  names.rows,
];

/** Makes the folder for the restored files, and deletes what a restore that was cut short left there. */
export function beginRestore(directory: string): string {
  dropRestore(directory);
  const folder = join(directory, partName, newName);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  giveToOwner(directory, [join(directory, partName), folder]);
  return folder;
}

/** Deletes the restored files. Nothing else in the data folder has changed. */
export function dropRestore(directory: string): void {
  rmSync(join(directory, partName), { recursive: true, force: true });
}

/**
 * Marks the new files as whole and puts them into their places. Returns the folder in which the old files are now, if
 * there were any.
 */
export function placeRestore(directory: string): string | undefined {
  const part = join(directory, partName);
  sync(join(part, newName));
  sync(part);
  renameSync(part, join(directory, readyName));
  sync(directory);
  return finishRestore(directory);
}

/**
 * Finishes a restore that was cut short when its files were whole. To be called by who holds the folder's lock, before
 * anything of it is opened. Throws `BackupRefused` where a file can't be moved: then nothing was changed.
 */
export function finishRestore(directory: string): string | undefined {
  const ready = join(directory, readyName);
  const placing = join(directory, placingName);
  if (isThere(ready)) {
    const fresh = readdirSync(join(ready, newName));
    const old = [...fresh.filter((name) => !ofDatabases.includes(name)), ...ofDatabases];
    for (const name of old) if (isThere(join(directory, name))) moveAway(directory, name);
    sync(directory);
    renameSync(ready, placing);
    sync(directory);
  }
  if (!isThere(placing)) return undefined;
  const from = join(placing, newName);
  if (isThere(from)) {
    for (const name of readdirSync(from)) renameSync(join(from, name), join(directory, name));
    sync(directory);
    rmdirSync(from);
  }
  return keepOld(directory, placing);
}

/** Moves an old file away. Where that fails, all are put back, and the restore counts no more. */
function moveAway(directory: string, name: string): void {
  const file = join(directory, name);
  const ready = join(directory, readyName);
  try {
    renameSync(file, join(ready, name));
  } catch (error) {
    for (const each of readdirSync(ready)) if (each !== newName) renameSync(join(ready, each), join(directory, each));
    sync(directory);
    renameSync(ready, join(directory, partName));
    sync(directory);
    dropRestore(directory);
    const code = error instanceof Error && "code" in error ? error.code : error;
    throw new BackupRefused(
      `can't move ${file} away (${code}); the data folder is as it was before the restore`,
      "Where something is mounted there, end that (a key that is mounted can be named by WAYBEAM_SECRET_FILE). Then restore again.",
      error,
    );
  }
}

/** Renames the folder of the old files to `replaced-N`, or deletes it if it is empty. */
function keepOld(directory: string, placing: string): string | undefined {
  const isEmpty = readdirSync(placing).length === 0;
  let number = 1;
  while (isThere(join(directory, `replaced-${number}`))) number++;
  const kept = join(directory, `replaced-${number}`);
  if (isEmpty) rmdirSync(placing);
  else renameSync(placing, kept);
  sync(directory);
  return isEmpty ? undefined : kept;
}

/** Whether a restore was cut short when its files were whole, and is not finished yet. */
export function isRestorePending(directory: string): boolean {
  return isThere(join(directory, readyName)) || isThere(join(directory, placingName));
}

/** Whether the data folder holds a database, or a part of one. */
export function hasData(directory: string): boolean {
  const file = databaseOf(directory);
  return [file, `${file}-wal`].some((each) => (statSync(each, { throwIfNoEntry: false })?.size ?? 0) > 0);
}
