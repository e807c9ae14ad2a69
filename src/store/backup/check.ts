import { join } from "node:path";
import { sumOf } from "./files.ts";
import { withDatabases } from "./folder.ts";
import { type Finding, type Inspection, inspect } from "./inspection.ts";
import { holdsKeys } from "./keys.ts";
import { databases, isBackup, readManifest } from "./manifest.ts";
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
 * Reads everything of a data folder, whether a service uses it or not, or of a backup, and changes nothing. Throws
 * `BackupRefused`, `StoreTooNew` or `DataFolderUnusable` where it can't be read at all.
 */
export async function check({ directory, secretFile, pid }: CheckOptions, work: LongWork): Promise<Inspection> {
  // A data folder that was made by copying a backup keeps the backup's manifest.
  const isCopy = secretFile === undefined && isBackup(directory);
  try {
    const before = isCopy ? await changedSince(directory, work) : [];
    if (!isCopy) checkSource(directory, pid);
    return await withDatabases(directory, async (open) => {
      checkVersion(open.rows);
      const found = await inspect(open, work);
      const keyless = secretFile !== undefined && !holdsKeys(secretFile, keyIdsOf(open.rows));
      const problem = `the secret key ${secretFile} is missing, or is not the one by which the database is sealed`;
      const findings = [...before, ...found.findings, ...(keyless ? [{ device: undefined, problem }] : [])];
      return { ...found, findings };
    });
  } catch (error) {
    throw workFailure(error, directory, "");
  }
}

/** Which databases of a backup are not those that were written. */
async function changedSince(folder: string, work: LongWork): Promise<readonly Finding[]> {
  const { files } = readManifest(folder);
  const changed: Finding[] = [];
  for (const name of databases) {
    const sum = await sumOf(join(folder, name), work);
    if (sum.bytes !== files[name]?.bytes || sum.sha256 !== files[name]?.sha256)
      changed.push({ device: undefined, problem: `${name} is not what was backed up: its SHA-256 differs` });
  }
  return changed;
}
