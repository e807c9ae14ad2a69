import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { busyTimeoutMs } from "./copy.ts";
import { sumOf } from "./files.ts";
import { type Finding, type Inspection, inspect } from "./inspection.ts";
import { holdsKeys } from "./keys.ts";
import { databaseIn, isBackup, type Manifest, names, readManifest } from "./manifest.ts";
import { hasPacks, type Pack, PackFiles, packsOf, showPacks } from "./packs.ts";
import { type LongWork, workFailure } from "./refused.ts";
import { checkSource } from "./source.ts";
import { checkVersion, keyIdsOf } from "./version.ts";

/** What to read. */
export interface CheckOptions {
  /** The service's data folder, or a folder that the operator names, which may be a backup. */
  readonly directory: string;
  /** The file of the service's secret key. Undefined for a folder that the operator names, which may have no key. */
  readonly secretFile: string | undefined;
  /** Number of this process. */
  readonly pid: number;
}

/**
 * Reads everything of a data folder, whether a service uses it or not, or of a backup, and changes nothing. Throws `BackupRefused`, `StoreTooNew` or
 * `DataFolderUnusable` where it can't be read at all.
 */
export async function check({ directory, secretFile, pid }: CheckOptions, work: LongWork): Promise<Inspection> {
  // A data folder that was made by copying a backup of form 1 keeps the backup's manifest.
  const isCopy = secretFile === undefined && isBackup(directory);
  try {
    if (isCopy) return await checkBackup(directory, work);
    const ofLog = checkSource(directory, pid).map((problem) => ({ device: undefined, problem }));
    const file = join(directory, names.database);
    const database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs });
    try {
      // One moment for everything: the service may go on.
      database.exec("begin");
      checkVersion(database, "main");
      const found = await inspect(database, work);
      const keyless = secretFile !== undefined && !holdsKeys(secretFile, keyIdsOf(database));
      const problem = `the secret key ${secretFile} is missing, or is not the one by which the database is sealed`;
      const findings = [...ofLog, ...found.findings, ...(keyless ? [{ device: undefined, problem }] : [])];
      return { ...found, findings };
    } finally {
      database.close();
    }
  } catch (error) {
    throw workFailure(error, directory);
  }
}

async function checkBackup(folder: string, work: LongWork): Promise<Inspection> {
  const manifest = readManifest(folder);
  const file = databaseIn(folder, manifest);
  const changed = await changedSince(file, manifest, work);
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    checkVersion(database, "main");
    const packs = hasPacks(database) ? packsOf(database) : [];
    const files = new PackFiles(folder, packs);
    try {
      if (packs.length > 0) showPacks(database, files);
      const found = await inspect(database, work);
      return { ...found, findings: [...changed, ...packs.flatMap((pack) => sizeOf(folder, pack)), ...found.findings] };
    } finally {
      files.close();
    }
  } finally {
    database.close();
  }
}

/** Whether a backup's database is the one that was written. */
async function changedSince(file: string, { bytes, sha256 }: Manifest, work: LongWork): Promise<readonly Finding[]> {
  const sum = await sumOf(file, work);
  if (sum.bytes === bytes && sum.sha256 === sha256) return [];
  return [{ device: undefined, problem: "the database is not the one that was backed up: its SHA-256 differs" }];
}

/** Whether a file of blocks is there. Reading the blocks tells whether its bytes are right. */
function sizeOf(folder: string, { name, bytes }: Pack): readonly Finding[] {
  const size = statSync(join(folder, name), { throwIfNoEntry: false })?.size;
  if (size === bytes) return [];
  return [{ device: undefined, problem: `${name} ${size === undefined ? "is missing" : "has not all of its bytes"}` }];
}
