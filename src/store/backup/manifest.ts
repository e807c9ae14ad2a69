import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkNumber, StoreTooNew } from "../migrations/migrations.ts";
import type { Sum } from "./files.ts";
import { BackupRefused } from "./refused.ts";

/** The names in a backup's folder: those of a data folder, and what the backup says of itself. */
export const names = {
  manifest: "backup.json",
  /** The database of everything but positions, and that of positions. */
  rows: "waybeam.db",
  positions: "positions.db",
  key: "secret.key",
  credentials: "credentials.json",
} as const;

/** The databases, in the order in which they are copied. */
export const databases = [names.rows, names.positions] as const;

/** The newest form of a backup's folder that this program reads. */
export const newestForm = 1;

/** What a backup says of itself. */
export interface Manifest {
  readonly form: number;
  /** Version of the program that made it. */
  readonly program: string;
  /** Version of the data: the number of the newest migration. */
  readonly data: number;
  /** When it was begun: all that was acknowledged before is in it. UTC. */
  readonly made: string;
  readonly devices: number;
  readonly positions: number;
  /** The databases by their names. */
  readonly files: Readonly<Record<string, Sum>>;
  /** What the keys are called that its secrets are sealed by. */
  readonly keys: readonly string[];
}

/** Bytes of a backup's databases. */
export function bytesOf({ files }: Manifest): number {
  return Object.values(files).reduce((sum, { bytes }) => sum + bytes, 0);
}

const damagedAdvice = "Nothing was changed: restore another backup, and look at the disk of this one.";

/**
 * Reads what a backup says of itself. Throws `BackupRefused` where the folder is no backup or its manifest is damaged,
 * `StoreTooNew` where a newer program made it.
 */
export function readManifest(folder: string): Manifest {
  const file = join(folder, names.manifest);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? error.code : error;
    throw new BackupRefused(
      `${folder} is no backup: can't read ${file} (${why})`,
      "Name a folder that `waybeam backup` made, and let the user that runs this command read it. One whose name ends with .part was cut short.",
      error,
    );
  }
  const found = parse(text);
  if (typeof found?.form === "number" && found.form > newestForm)
    throw new StoreTooNew(`the backup ${folder} is of form ${found.form}, a newer program made it`);
  if (!isManifest(found))
    throw new BackupRefused(`the backup ${folder} is damaged: ${file} is not readable`, damagedAdvice);
  checkNumber(found.data);
  return found;
}

/** Whether a folder calls itself a backup. */
export function isBackup(folder: string): boolean {
  try {
    return typeof parse(readFileSync(join(folder, names.manifest), "utf8"))?.form === "number";
  } catch {
    return false;
  }
}

/** The backup is not what its manifest says. */
export function damagedBackup(folder: string, why: string): BackupRefused {
  return new BackupRefused(`the backup ${folder} is damaged: ${why}`, damagedAdvice);
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isManifest(
  found: Readonly<Record<string, unknown>> | undefined,
): found is Readonly<Record<string, unknown>> & Manifest {
  if (found === undefined) return false;
  const numbers = [found.form, found.data, found.devices, found.positions];
  const files = Object(found.files);
  return (
    numbers.every((value) => Number.isSafeInteger(value)) &&
    [found.program, found.made].every((value) => typeof value === "string") &&
    databases.every((name) => Number.isSafeInteger(files[name]?.bytes) && typeof files[name]?.sha256 === "string") &&
    Array.isArray(found.keys) &&
    found.keys.every((value) => typeof value === "string")
  );
}
