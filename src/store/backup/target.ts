import { mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { DataFolderInUse, lockFolder } from "../sqlite/lock.ts";
import { sync } from "../sqlite/private-files.ts";
import { isThere } from "./files.ts";
import { isBackup, names } from "./manifest.ts";
import { BackupRefused } from "./refused.ts";

/** The names that a backup's folder may hold, and those of the lock while it is written. */
const own: ReadonlySet<string> = new Set(Object.values(names));
const ofLock: readonly string[] = ["lock.db", "lock.db-journal", "lock.pid"];

const chooseNew = "Choose a folder that does not exist yet.";

/**
 * Checks that a backup of a data folder may be written to `target`, a path without links (`realPlace`). Throws
 * `BackupRefused`.
 */
export function checkTarget(target: string, directory: string, replace: boolean): void {
  const data = realpathSync(directory);
  if (target === data || target.startsWith(data + sep))
    throw new BackupRefused(
      target === data ? `${target} is the data folder itself` : `${target} is inside the data folder ${directory}`,
      "Choose a folder outside of it, on another disk where you can.",
    );
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw new BackupRefused(`${target} is not a folder`, chooseNew);
  if (found.dev !== statSync(dirname(target)).dev)
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

/** The absolute path without links. Its last parts need not exist. */
export function realPlace(path: string): string {
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

/*
 * A backup is written in `TARGET.part`, whose names are our own:
 *   lock.db, lock.pid  held until the backup has its name
 *   new/*              the backup that is being written
 *   old/*              the backup whose place it takes
 */
const newName = "new";
const oldName = "old";

/** A backup that is being written, beside the place that it takes. */
export interface Part {
  /** The folder to write it into. */
  readonly folder: string;
  /** Deletes the part. */
  drop(): void;
  /** Gives the backup its name, in place of an older backup of that name. */
  place(): void;
}

/**
 * Makes `TARGET.part`, and deletes what a backup that was cut short left there. Throws `BackupRefused` where another
 * process writes it.
 */
export function beginPart(target: string, pid: number): Part {
  const part = `${target}.part`;
  const fresh = join(part, newName);
  const old = join(part, oldName);
  mkdirSync(part, { recursive: true, mode: 0o700 });
  const foreign = foreignIn(part);
  if (foreign !== undefined)
    throw new BackupRefused(`${part} holds a file that is not of a backup: ${foreign}`, "Move that folder away.");
  const lock = lockPart(part, target, pid);
  const end = () => {
    // While the lock is held: nobody else has it when its files go.
    for (const name of ofLock) rmSync(join(part, name), { force: true });
    lock.release();
    dropEmpty(part);
  };
  empty(fresh);
  mkdirSync(fresh, { recursive: true, mode: 0o700 });
  return {
    folder: fresh,
    drop() {
      empty(fresh);
      end();
    },
    place() {
      sync(fresh);
      if (isThere(target) && isBackup(target)) {
        empty(old);
        renameSync(target, old);
      }
      renameSync(fresh, target);
      sync(dirname(target));
      // Of an earlier replacement too that was cut short: until now it was the only whole one.
      empty(old);
      end();
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

/** A name in `TARGET.part` that no backup makes. */
function foreignIn(part: string): string | undefined {
  for (const name of readdirSync(part)) {
    if (ofLock.includes(name)) continue;
    if (name !== newName && name !== oldName) return name;
    const held = readdirSync(join(part, name)).find((each) => !isOurs(each));
    if (held !== undefined) return join(name, held);
  }
  return undefined;
}

function isOurs(name: string): boolean {
  return own.has(name) || own.has(name.replace(/-(?:wal|shm|journal)$/, ""));
}

/** Deletes a folder of a backup, but for what is not of one. */
function empty(folder: string): void {
  if (!isThere(folder)) return;
  for (const name of readdirSync(folder)) if (isOurs(name)) rmSync(join(folder, name));
  dropEmpty(folder);
}

function dropEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOTEMPTY")) throw error;
  }
}
