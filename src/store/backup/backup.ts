import { statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SecretKeyUnusable } from "../secrets/key-file.ts";
import { databaseOf } from "../sqlite/folder.ts";
import { makePrivate, sync, writePrivate } from "../sqlite/private-files.ts";
import { copyDatabase, type Snapshot } from "./copy.ts";
import { type Earlier, lookAt, type NothingToTake, type Offer, offerOf } from "./earlier.ts";
import { copyPrivate, isThere, sumOf } from "./files.ts";
import { type Inspection, inspect } from "./inspection.ts";
import { holdsKeys } from "./keys.ts";
import { type Manifest, names } from "./manifest.ts";
import { fullPack, type Pack } from "./packs.ts";
import { BackupRefused, type LongWork, livesDamaged, workFailure } from "./refused.ts";
import { checkSource } from "./source.ts";
import { beginPart, checkRoom, checkTarget, earlierAt, realPlace } from "./target.ts";
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
  /** Takes nothing over from it. */
  readonly full: boolean;
  /** Leaves the secret key and the credentials out. */
  readonly withoutKeys: boolean;
  /** Version of the program. */
  readonly program: string;
  /** Number of this process. */
  readonly pid: number;
  /** Epoch ms. */
  readonly now: number;
  /** Bytes from which on a file of blocks is full. */
  readonly packBytes?: number;
}

/** What was backed up. */
export interface MadeBackup {
  readonly folder: string;
  readonly manifest: Manifest;
  /** The secret key is in it. */
  readonly withKey: boolean;
  /** Bytes of blocks that an earlier backup had. */
  readonly takenBytes: number;
  /** Bytes of blocks and of all other tables that were copied. */
  readonly copiedBytes: number;
  /** What the operator should know: why nothing was taken over from the earlier backup, that parts of it are damaged, or that what the blocks tell as well is damaged in the database. */
  readonly notes: readonly string[];
}

/**
 * Backs a data folder up, whether a service uses it or not. The backup is written beside its place, read back, and moved there when it is whole. Bytes of blocks that the backup in
 * that place has already are taken over from there. Throws `BackupRefused`, `StoreTooNew`, `DataFolderUnusable` or `SecretKeyUnusable`.
 */
export async function makeBackup(options: BackupOptions, work: LongWork): Promise<MadeBackup> {
  const { directory, replace, pid } = options;
  const named = resolve(options.target);
  try {
    checkSource(directory, pid);
    const target = realPlace(named);
    checkTarget(target, directory, replace);
    checkRoom(dirname(target), roomFor(directory, earlierOf(target, options)));
    const part = beginPart(target, pid);
    try {
      // Another process may have made one before this one had the lock.
      checkTarget(target, directory, replace);
      const made = await write(options, part.folder, earlierOf(target, options), work);
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

/** The backup from which blocks are taken over, or why none are. */
function earlierOf(target: string, { program, full }: BackupOptions): Earlier | NothingToTake | undefined {
  const folder = full ? undefined : earlierAt(target);
  return folder === undefined ? undefined : lookAt(folder, program);
}

function roomFor(directory: string, earlier: Earlier | NothingToTake | undefined): number {
  const file = databaseOf(directory);
  const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const there = earlier && "manifest" in earlier ? (earlier.manifest.packBytes ?? 0) : 0;
  return Math.max(0, size(file) + size(`${file}-wal`) - there);
}

async function write(
  options: BackupOptions,
  folder: string,
  earlier: Earlier | NothingToTake | undefined,
  work: LongWork,
): Promise<Omit<MadeBackup, "folder">> {
  const { directory, withoutKeys, program, now, packBytes = fullPack } = options;
  const file = join(folder, names.tables);
  makePrivate(file);
  const found = earlier && "manifest" in earlier ? await offerOf(earlier, folder, work) : earlier;
  const offer = found && "packs" in found ? found : undefined;
  const from = join(directory, names.database);
  const snapshot = await copyDatabase({ from, folder, offer, packBytes }, work);
  const { taken, written } = snapshot.packs;
  sync(file);
  const { devices, positions, keys } = await verify(file, snapshot, work);
  const withKey = await copyKeys(options, folder, keys, work);
  const credentials = join(directory, names.credentials);
  if (!withoutKeys && isThere(credentials)) await copyPrivate(credentials, join(folder, names.credentials), work);
  const sum = await sumOf(file, work);
  const takenBytes = total(taken);
  const packs = { packBytes: takenBytes + total(written), restoredBytes: snapshot.wholeBytes };
  const ofData = { data: snapshot.data, made: new Date(now).toISOString(), devices, positions };
  const manifest: Manifest = { form: 2, program, ...ofData, ...sum, ...packs, keys };
  writePrivate(join(folder, names.manifest), `${JSON.stringify(manifest, null, 2)}\n`);
  const copiedBytes = sum.bytes + total(written);
  return { manifest, withKey, takenBytes, copiedBytes, notes: notesOn(found, snapshot) };
}

function total(packs: readonly Pack[]): number {
  return packs.reduce((sum, { bytes }) => sum + bytes, 0);
}

function notesOn(found: Offer | NothingToTake | undefined, { packs, damagedSpent }: Snapshot): readonly string[] {
  const ofEarlier = found === undefined ? [] : notesOnEarlier(found, packs.why);
  if (damagedSpent === 0) return ofEarlier;
  const devices = damagedSpent === 1 ? "1 device" : `${damagedSpent} devices`;
  return [
    ...ofEarlier,
    `What says which positions of ${devices} are in blocks is damaged. The blocks told, and the backup is whole; run waybeam check, and check the disk.`,
  ];
}

function notesOnEarlier(found: Offer | NothingToTake, foreign: string | undefined): readonly string[] {
  const why = "why" in found ? found.why : foreign;
  if (why !== undefined) return [`Everything was copied: ${why}.`];
  if (!("damaged" in found) || found.damaged === 0) return [];
  const files = found.damaged === 1 ? "1 file" : `${found.damaged} files`;
  return [
    `${files} of the backup that was there were damaged or missing, and their blocks were copied: check its disk.`,
  ];
}

/** Copies the secret key, unless the operator keeps it elsewhere. Returns whether it is in the backup. Throws `SecretKeyUnusable` where it is not the database's. */
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

/** Reads a copy back: it is what it was copied from, and nothing of it is damaged. Packs that were taken over were read before. */
async function verify(
  file: string,
  { byDevice, packs: { written } }: Snapshot,
  work: LongWork,
): Promise<Inspection & { readonly keys: readonly string[] }> {
  const folder = dirname(file);
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const found = await inspect(database, work, { isRead: true });
    const [first] = found.findings;
    if (first !== undefined) throw livesDamaged(first);
    for (const { name, bytes, sha256 } of written) {
      const sum = await sumOf(join(folder, name), work);
      if (sum.bytes !== bytes || sum.sha256 !== sha256) throw notKept(folder);
    }
    const copied = found.byDevice;
    for (const [device, { rows, records }] of byDevice) {
      const other = copied.get(device);
      if (other?.rows !== rows || other.records !== records || copied.size !== byDevice.size) throw notKept(folder);
    }
    return { ...found, keys: keyIdsOf(database) };
  } finally {
    database.close();
  }
}

function notKept(folder: string): BackupRefused {
  return new BackupRefused(
    `the copy ${basename(folder)} is not what was copied: the disk does not keep what is written`,
    "Choose a folder on another disk.",
  );
}
