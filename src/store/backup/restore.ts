import { readdirSync, realpathSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { SecretKeyUnusable } from "../secrets/key-file.ts";
import { makeFolder } from "../sqlite/folder.ts";
import { lockFolder } from "../sqlite/lock.ts";
import { copyPrivate, isThere } from "./files.ts";
import { withDatabases } from "./folder.ts";
import { inspect } from "./inspection.ts";
import { holdsKeys } from "./keys.ts";
import { bytesOf, damagedBackup, databases, type Manifest, names, readManifest } from "./manifest.ts";
import { giveLockToOwner, giveToOwner } from "./owner.ts";
import { beginRestore, dropRestore, finishRestore, hasData, placeRestore } from "./placing.ts";
import { BackupRefused, type LongWork, workFailure } from "./refused.ts";
import { checkRoom } from "./target.ts";
import { checkVersion } from "./version.ts";

/** What to restore, where to, and who does it. */
export interface RestoreOptions {
  readonly backup: string;
  /** The data folder; made where it is not there. */
  readonly directory: string;
  /** The file of the secret key, which may lie elsewhere. */
  readonly secretFile: string;
  /** Takes the place of data that is there. */
  readonly replace: boolean;
  /** Number of this process. */
  readonly pid: number;
}

/** What was restored. */
export interface Restored {
  readonly manifest: Manifest;
  /** The folder of the files that were there before. Undefined when there were none. */
  readonly replaced: string | undefined;
}

/**
 * Puts a backup into a data folder that no service uses. The files are written beside their places and read back; until
 * then nothing is changed. Throws `BackupRefused`, `StoreTooNew`, `DataFolderInUse` or `DataFolderUnusable`.
 */
export async function restore(options: RestoreOptions, work: LongWork): Promise<Restored> {
  const { directory, replace, pid } = options;
  const backup = resolve(options.backup);
  try {
    const manifest = readManifest(backup);
    makeFolder(directory);
    const real = realpathSync(directory);
    if (realpathSync(backup) === real || real.startsWith(realpathSync(backup) + sep))
      throw new BackupRefused(`${backup} holds the data folder`, "Name the folder of a backup.");
    const lock = lockFolder(directory, pid);
    try {
      finishRestore(directory);
      if (hasData(directory) && !replace)
        throw new BackupRefused(
          `the data folder ${directory} holds data already`,
          "Choose another folder by WAYBEAM_DATA, or add --replace: the files that are there then move to a folder in it.",
        );
      checkRoom(directory, bytesOf(manifest));
      return { manifest, replaced: await put(backup, manifest, options, work) };
    } finally {
      giveLockToOwner(directory);
      lock.release();
    }
  } catch (error) {
    throw workFailure(error, directory);
  }
}

async function put(
  backup: string,
  manifest: Manifest,
  { directory, secretFile }: RestoreOptions,
  work: LongWork,
): Promise<string | undefined> {
  const key = keyFor(backup, manifest, directory, secretFile);
  const folder = beginRestore(directory);
  try {
    for (const name of databases) {
      const { bytes, sha256 } = await copyPrivate(join(backup, name), join(folder, name), work);
      const sum = manifest.files[name];
      if (bytes !== sum?.bytes || sha256 !== sum.sha256)
        throw damagedBackup(backup, `${name} is not the file that was backed up (its SHA-256 differs)`);
    }
    await verify(backup, folder, manifest, work);
    if (key === "backup's") await copyPrivate(join(backup, names.key), join(folder, names.key), work);
    const credentials = join(backup, names.credentials);
    if (isThere(credentials)) await copyPrivate(credentials, join(folder, names.credentials), work);
    giveToOwner(
      directory,
      readdirSync(folder).map((name) => join(folder, name)),
    );
    return placeRestore(directory);
  } catch (error) {
    dropRestore(directory);
    throw error;
  }
}

/** Which key opens the backup's secrets: the one in the service's own place, or the one in the backup. */
function keyFor(backup: string, { keys }: Manifest, directory: string, secretFile: string): "backup's" | "own" {
  // Left where it is: it may be mounted there, and it may hold a newer key as well.
  if (isThere(secretFile) && opens(secretFile, keys)) return "own";
  const inBackup = join(backup, names.key);
  const isOwnPlace = resolve(secretFile) === resolve(directory, names.key);
  if (isOwnPlace && isThere(inBackup)) {
    if (holdsKeys(inBackup, keys)) return "backup's";
    throw damagedBackup(backup, `${names.key} is not the key by which it is sealed`);
  }
  if (keys.length === 0) return "own";
  const advice = isThere(inBackup)
    ? `Put the key of the backup there: ${inBackup}.`
    : "Put the key there that was kept apart from the backup, and restore again.";
  throw new BackupRefused(`the secrets in the backup are sealed by a key that is not in ${secretFile}`, advice);
}

/** A key that can't be read opens nothing: it is what the restore replaces. */
function opens(file: string, keys: readonly string[]): boolean {
  try {
    return holdsKeys(file, keys);
  } catch (error) {
    if (error instanceof SecretKeyUnusable) return false;
    throw error;
  }
}

function verify(backup: string, folder: string, manifest: Manifest, work: LongWork): Promise<void> {
  return withDatabases(folder, async (copy) => {
    checkVersion(copy.rows);
    const { devices, positions, findings } = await inspect(copy, work);
    const [first] = findings;
    if (first !== undefined) throw damagedBackup(backup, first.problem);
    if (devices !== manifest.devices || positions !== manifest.positions)
      throw damagedBackup(backup, "it does not hold what its manifest says");
  });
}
