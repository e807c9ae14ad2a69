import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { busyTimeoutMs } from "./copy.ts";
import { sumOf } from "./files.ts";
import { type Finding, type Inspection, inspect } from "./inspection.ts";
import { holdsKeys } from "./keys.ts";
import { isBackup, names, readManifest } from "./manifest.ts";
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
  // A data folder that was made by copying a backup keeps the backup's manifest.
  const isCopy = secretFile === undefined && isBackup(directory);
  try {
    const ofLog = isCopy ? [] : checkSource(directory, pid).map((problem) => ({ device: undefined, problem }));
    const changed = isCopy ? await changedSince(directory, work) : [];
    const database = new DatabaseSync(join(directory, names.database), { readOnly: true, timeout: busyTimeoutMs });
    try {
      // One moment for everything: the service may go on.
      database.exec("begin");
      checkVersion(database, "main");
      const found = await inspect(database, work);
      const keyless = secretFile !== undefined && !holdsKeys(secretFile, keyIdsOf(database));
      const problem = `the secret key ${secretFile} is missing, or is not the one by which the database is sealed`;
      const findings = [...changed, ...ofLog, ...found.findings, ...(keyless ? [{ device: undefined, problem }] : [])];
      return { ...found, findings };
    } finally {
      database.close();
    }
  } catch (error) {
    throw workFailure(error, directory);
  }
}

/** Whether a backup's database is the one that was written. */
async function changedSince(folder: string, work: LongWork): Promise<readonly Finding[]> {
  const { bytes, sha256 } = readManifest(folder);
  const sum = await sumOf(join(folder, names.database), work);
  if (sum.bytes === bytes && sum.sha256 === sha256) return [];
  return [{ device: undefined, problem: "the database is not the one that was backed up: its SHA-256 differs" }];
}
