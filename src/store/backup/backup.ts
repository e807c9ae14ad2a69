import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SecretKeyUnusable } from "../secrets/key-file.ts";
import { databaseOf } from "../sqlite/folder.ts";
import { makePrivate, sync, writePrivate } from "../sqlite/private-files.ts";
import { copyDatabase, type Snapshot } from "./copy.ts";
import { copyPrivate, isThere, sumOf } from "./files.ts";
import { type Inspection, inspect } from "./inspection.ts";
import { holdsKeys } from "./keys.ts";
import { type Manifest, names } from "./manifest.ts";
import { BackupRefused, type LongWork, workFailure } from "./refused.ts";
import { checkSource } from "./source.ts";
import { beginPart, checkRoom, checkTarget, realPlace } from "./target.ts";
import { keyIdsOf } from "./version.ts";

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
}

/**
 * Backs a data folder up, whether a service uses it or not. The backup is written beside its place, read back, and moved there when it is whole.
 * Throws `BackupRefused`, `StoreTooNew`, `DataFolderUnusable` or `SecretKeyUnusable`.
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

function roomFor(directory: string): number {
  const file = databaseOf(directory);
  const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  return size(file) + size(`${file}-wal`);
}

async function write(options: BackupOptions, folder: string, work: LongWork): Promise<Omit<MadeBackup, "folder">> {
  const { directory, secretFile, withoutKeys, program, now } = options;
  const file = join(folder, names.database);
  makePrivate(file);
  const snapshot = await copyDatabase(join(directory, names.database), file, work);
  sync(file);
  const { devices, positions, keys } = await verify(file, snapshot, work);
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
  const credentials = join(directory, names.credentials);
  if (!withoutKeys && isThere(credentials)) await copyPrivate(credentials, join(folder, names.credentials), work);
  const made = new Date(now).toISOString();
  const sum = await sumOf(file, work);
  const manifest: Manifest = { form: 1, program, data: snapshot.data, made, devices, positions, ...sum, keys };
  writePrivate(join(folder, names.manifest), `${JSON.stringify(manifest, null, 2)}\n`);
  return { manifest, withKey };
}

/** Reads a copy back: it is what it was copied from, and nothing of it is damaged. */
async function verify(
  file: string,
  { byDevice }: Snapshot,
  work: LongWork,
): Promise<Inspection & { readonly keys: readonly string[] }> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const found = await inspect(database, work);
    const [first] = found.findings;
    if (first !== undefined)
      throw new BackupRefused(
        `the database is damaged${first.device === undefined ? "" : ` (device ${first.device})`}: ${first.problem}`,
        'Run `waybeam check` to see all of it. docs/operating.md, "Backup, restore, check", says how to go on.',
      );
    const copied = found.byDevice;
    for (const [device, { rows, records }] of byDevice) {
      const other = copied.get(device);
      if (other?.rows !== rows || other.records !== records || copied.size !== byDevice.size)
        throw new BackupRefused(
          `the copy ${basename(dirname(file))} is not what was copied: the disk does not keep what is written`,
          "Choose a folder on another disk.",
        );
    }
    return { ...found, keys: keyIdsOf(database) };
  } finally {
    database.close();
  }
}
