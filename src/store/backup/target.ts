import { mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { DataFolderInUse, lockFolder } from "../sqlite/lock.ts";
import { isThere, sync } from "./files.ts";
import { isBackup, names } from "./manifest.ts";
import { BackupRefused } from "./refused.ts";

/** All names that a backup's folder may hold, and those of the lock while it is written. */
const own: ReadonlySet<string> = new Set(Object.values(names));
const ofLock: readonly string[] = ["lock.db", "lock.db-journal", "lock.pid"];

const chooseNew = "Choose a folder that does not exist yet.";

/** Sees that a backup of a data folder may be written to this absolute path. Throws `BackupRefused`. */
export function checkTarget(target: string, directory: string, replace: boolean): void {
  const real = realPlace(target);
  const data = realpathSync(directory);
  if (real === data || real.startsWith(data + sep))
    throw new BackupRefused(
      real === data ? `${target} is the data folder itself` : `${target} is inside the data folder ${directory}`,
      "Choose a folder outside of it, on another disk where you can.",
    );
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw new BackupRefused(`${target} is not a folder`, chooseNew);
  if (found.dev !== statSync(dirname(real)).dev)
    throw new BackupRefused(`${target} is the top of a disk`, `Choose a folder on it: ${join(target, "waybeam")}.`);
  const held = readdirSync(target);
  if (held.length === 0) return;
  if (!isBackup(target) || held.some((name) => !own.has(name)))
    throw new BackupRefused(`${target} is not empty, and it is not a backup`, chooseNew);
  if (!replace)
    throw new BackupRefused(
      `${target} holds a backup already`,
      "Choose another folder, or add --replace: the new backup then takes its place once it is whole.",
    );
}

/** The path without links; its end need not be there. */
function realPlace(path: string): string {
  if (isThere(path) || dirname(path) === path) return realpathSync(path);
  return join(realPlace(dirname(path)), basename(path));
}

/** Tells a disk without room before anything is written. Throws `BackupRefused`. */
export function checkRoom(folder: string, needed: number): void {
  let there = folder;
  while (!isThere(there) && dirname(there) !== there) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  const free = bavail * bsize;
  if (free >= needed) return;
  throw new BackupRefused(
    `the disk of ${folder} has ${megabytes(free)} free, and up to ${megabytes(needed)} are needed`,
    "Free some space, or choose a folder on another disk.",
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A folder that is being written, beside the one that it becomes. */
export interface Part {
  readonly folder: string;
  /** Deletes it. */
  drop(): void;
  /** Gives it its name, in place of the backup that had the name. */
  place(): void;
}

/** Makes the folder `TARGET.part`, without what a backup that was cut short left there. Throws `BackupRefused` where another process writes it. */
export function beginPart(target: string, pid: number): Part {
  const folder = `${target}.part`;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const foreign = readdirSync(folder).find((name) => !isOurs(name));
  if (foreign !== undefined)
    throw new BackupRefused(`${folder} holds a file that is not of a backup: ${foreign}`, "Move that folder away.");
  const lock = lockPart(folder, target, pid);
  for (const name of readdirSync(folder)) if (!ofLock.includes(name)) rmSync(join(folder, name));
  const unlock = () => {
    lock.release();
    for (const name of ofLock) rmSync(join(folder, name), { force: true });
  };
  return {
    folder,
    drop() {
      unlock();
      for (const name of readdirSync(folder)) if (isOurs(name)) rmSync(join(folder, name));
      rmSync(folder, { recursive: true });
    },
    place() {
      unlock();
      sync(folder);
      const old = `${target}.old`;
      if (isThere(target) && isBackup(target)) {
        dropOld(old);
        renameSync(target, old);
      }
      renameSync(folder, target);
      sync(dirname(target));
      dropOld(old);
    },
  };
}

function lockPart(folder: string, target: string, pid: number): { release(): void } {
  try {
    return lockFolder(folder, pid);
  } catch (error) {
    if (!(error instanceof DataFolderInUse)) throw error;
    const by = error.pid === undefined ? "" : ` (process ${error.pid})`;
    throw new BackupRefused(
      `another backup is being written to ${target}${by}`,
      "Wait for it, or choose another folder.",
    );
  }
}

function isOurs(name: string): boolean {
  return own.has(name) || own.has(name.replace(/-(?:wal|shm|journal)$/, "")) || ofLock.includes(name);
}

/** Deletes the backup whose place was taken. */
function dropOld(folder: string): void {
  if (!isThere(folder) || !isBackup(folder)) return;
  // The manifest last: a deletion that is cut short goes on the next time.
  for (const name of readdirSync(folder)) if (own.has(name) && name !== names.manifest) rmSync(join(folder, name));
  rmSync(join(folder, names.manifest));
  if (readdirSync(folder).length === 0) rmSync(folder, { recursive: true });
}
