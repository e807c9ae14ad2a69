import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SecretKeyUnusable } from "../secrets/key-file.ts";
import { makePrivate, sync, writePrivate } from "../sqlite/private-files.ts";
import { copyPrivate, isThere, type Sum, sumOf } from "./files.ts";
import { filesOf, openToRead, withDatabases } from "./folder.ts";
import { inspect } from "./inspection.ts";
import { holdsKeys } from "./keys.ts";
import { databases, type Manifest, names, newestForm } from "./manifest.ts";
import { type LongWork, livesDamaged, workFailure } from "./refused.ts";
import { checkSource } from "./source.ts";
import { beginPart, checkRoom, checkTarget, realPlace } from "./target.ts";
import { checkVersion, keyIdsOf } from "./version.ts";

/** What to back up, where to, and who does it. */
export interface BackupOptions {
  /** The data folder. */
  readonly directory: string;
  /** The file of the secret key, which may lie elsewhere. */
  readonly secretFile: string;
  readonly target: string;
  /** Takes the place of a backup that is there. */
  readonly replace: boolean;
  /** Leaves the secret key and the credentials out. */
  readonly withoutKeys: boolean;
  /** Version of the program. */
  readonly program: string;
  /** Number of this process. */
  readonly pid: number;
  /** Epoch ms. */
  readonly now: number;
}

/** What was backed up. */
export interface MadeBackup {
  readonly folder: string;
  readonly manifest: Manifest;
  /** The secret key is in it. */
  readonly withKey: boolean;
  /** Bytes of SQLite's own logs, which grow while a copy is made. */
  readonly walBytes: number;
}

/**
 * Backs a data folder up, whether a service uses it or not, into a folder that opens as it is. The backup is written
 * beside its place, read back, and moved there when it is whole. Throws `BackupRefused`, `StoreTooNew`,
 * `DataFolderUnusable` or `SecretKeyUnusable`.
 */
export async function makeBackup(options: BackupOptions, work: LongWork): Promise<MadeBackup> {
  const { directory, replace, pid } = options;
  const named = resolve(options.target);
  try {
    checkSource(directory, pid);
    const target = realPlace(named);
    checkTarget(target, directory, replace);
    checkRoom(dirname(target), roomFor(directory));
    const part = beginPart(target, pid);
    try {
      // Another process may have made one before this one had the lock.
      checkTarget(target, directory, replace);
      const made = await write(options, part.folder, work);
      part.place();
      return { ...made, folder: target };
    } catch (error) {
      if (isThere(part.folder)) part.drop();
      throw error;
    }
  } catch (error) {
    throw workFailure(error, named);
  }
}

function sizeOf(name: string): number {
  return statSync(name, { throwIfNoEntry: false })?.size ?? 0;
}

function roomFor(directory: string): number {
  return Object.values(filesOf(directory)).reduce((sum, file) => sum + sizeOf(file) + sizeOf(`${file}-wal`), 0);
}

async function write(options: BackupOptions, folder: string, work: LongWork): Promise<Omit<MadeBackup, "folder">> {
  const { directory, withoutKeys, program, now } = options;
  const made = new Date(now).toISOString();
  const from = filesOf(directory);
  const followed = followedIn(from.positions);
  // The rows first: what the follower wrote is then behind the positions of the copy, and is made good when it is
  // opened. The other way round, totals would hold what is not there.
  vacuumInto(from.rows, join(folder, names.rows), work);
  vacuumInto(from.positions, join(folder, names.positions), work);
  followFrom(followed, join(folder, names.positions));
  giveNoNumberAgain(from.rows, join(folder, names.rows));
  const walBytes = Object.values(from).reduce((sum, file) => sum + sizeOf(`${file}-wal`), 0);
  const { devices, positions, keys, data } = await verify(folder, work);
  const withKey = await copyKeys(options, folder, keys, work);
  const credentials = join(directory, names.credentials);
  if (!withoutKeys && isThere(credentials)) await copyPrivate(credentials, join(folder, names.credentials), work);
  const files: Record<string, Sum> = {};
  for (const name of databases) files[name] = await sumOf(join(folder, name), work);
  const manifest: Manifest = { form: newestForm, program, data, made, devices, positions, files, keys };
  writePrivate(join(folder, names.manifest), `${JSON.stringify(manifest, null, 2)}\n`);
  return { manifest, withKey, walBytes };
}

/**
 * Copies a database as it is at one moment (https://www.sqlite.org/lang_vacuum.html#vacuuminto). SQLite's own log grows
 * meanwhile, since the moment is read from it.
 */
function vacuumInto(from: string, to: string, { signal, progress }: LongWork): void {
  signal.throwIfAborted();
  progress(() => `copying ${basename(from)} (${(sizeOf(from) / 1e6).toFixed(1)} MB) ...`);
  makePrivate(to);
  const database = openToRead(from);
  try {
    database.prepare("vacuum into ?").run(to);
  } finally {
    database.close();
  }
  sync(to);
}

/** How far the rows of the follower have come at least, as it was noted before they are copied. */
function followedIn(file: string): number {
  const database = openToRead(file);
  try {
    return Number(database.prepare("select followed from log_end").get()?.followed ?? 0);
  } finally {
    database.close();
  }
}

/** What the service followed between the two copies is followed again from this copy. */
function followFrom(followed: number, file: string): void {
  const copy = new DatabaseSync(file);
  try {
    copy.prepare("update log_end set followed = min(followed, ?)").run(followed);
  } finally {
    copy.close();
  }
  sync(file);
}

/**
 * A device that was added between the two copies has positions in the copy, but no row. Its number must not become
 * another device's, who would be shown them.
 */
function giveNoNumberAgain(from: string, to: string): void {
  const live = openToRead(from);
  const copy = new DatabaseSync(to);
  try {
    const given = live.prepare("select seq from sqlite_sequence where name = 'device'").get();
    if (given === undefined) return;
    copy.exec("begin immediate; delete from sqlite_sequence where name = 'device'");
    copy.prepare("insert into sqlite_sequence (name, seq) values ('device', ?)").run(Number(given.seq));
    copy.exec("commit");
  } finally {
    copy.close();
    live.close();
  }
  sync(to);
}

/**
 * Copies the secret key, unless the operator keeps it elsewhere. Returns whether it is in the backup. Throws
 * `SecretKeyUnusable` where it is not the database's.
 */
async function copyKeys(
  { directory, secretFile, withoutKeys }: BackupOptions,
  folder: string,
  keys: readonly string[],
  work: LongWork,
): Promise<boolean> {
  // A key that the operator keeps elsewhere stays there.
  const withKey = !withoutKeys && resolve(secretFile) === resolve(directory, names.key) && isThere(secretFile);
  const key = withKey ? join(folder, names.key) : secretFile;
  if (withKey) await copyPrivate(secretFile, key, work);
  // Of the copy: a rotation may replace the key at any moment.
  if (!holdsKeys(key, keys))
    throw new SecretKeyUnusable(
      `the secret key ${secretFile} is missing, or is not the one by which the database is sealed`,
      "Set WAYBEAM_SECRET_FILE to it: a backup without its key can't be opened.",
    );
  return withKey;
}

/** Reads a copy back: nothing of it is damaged. */
function verify(folder: string, work: LongWork) {
  return withDatabases(folder, async (copy) => {
    const data = checkVersion(copy.rows);
    const found = await inspect(copy, work);
    const [first] = found.findings;
    if (first !== undefined) throw livesDamaged(first);
    return { ...found, data, keys: keyIdsOf(copy.rows) };
  });
}
