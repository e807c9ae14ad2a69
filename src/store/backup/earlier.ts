import { constants, copyFileSync, linkSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreTooNew } from "../migrations/migrations.ts";
import { sync } from "../sqlite/private-files.ts";
import { sumOf } from "./files.ts";
import { type Manifest, names, readManifest } from "./manifest.ts";
import { type Pack, packsOf } from "./packs.ts";
import { BackupRefused, type LongWork } from "./refused.ts";

/** A backup that was made before. */
export interface Earlier {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** What a new backup may take over. */
export interface Offer {
  readonly earlier: Earlier;
  /** The packs that are whole. They are in the folder of the new backup already. */
  readonly packs: readonly Pack[];
  /** Packs that are damaged or missing. */
  readonly damaged: number;
}

/** Nothing can be taken over, and why. */
export class NothingToTake {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** Looks at an earlier backup, without reading much. */
export function lookAt(folder: string, program: string): Earlier | NothingToTake {
  let manifest: Manifest;
  try {
    manifest = readManifest(folder);
  } catch (error) {
    if (error instanceof BackupRefused || error instanceof StoreTooNew) return new NothingToTake(error.message);
    throw error;
  }
  if (manifest.form === 1) return new NothingToTake("an older version of the program made the backup that is there");
  if (manifest.program !== program)
    return new NothingToTake(`another version of the program (${manifest.program}) made the backup that is there`);
  return { folder, manifest };
}

/** Puts the packs of an earlier backup into the folder of a new one, and reads them. Those that are not as they were written are left out. */
export async function offerOf(earlier: Earlier, folder: string, work: LongWork): Promise<Offer | NothingToTake> {
  const { bytes, sha256 } = earlier.manifest;
  const file = join(earlier.folder, names.tables);
  const sum = await readable(() => sumOf(file, work, "checking the backup that is there"));
  if (sum?.bytes !== bytes || sum.sha256 !== sha256)
    return new NothingToTake(`the backup that is there is damaged (${names.tables})`);
  const packs = packsIn(file);
  const all = packs.reduce((total, pack) => total + pack.bytes, 0);
  const whole: Pack[] = [];
  let done = 0;
  for (const pack of packs) {
    const told = { ...work, progress: () => progressOf(work, done, all) };
    const own = join(folder, pack.name);
    const found = await readable(async () => {
      take(join(earlier.folder, pack.name), own);
      return await sumOf(own, told);
    });
    if (found?.bytes === pack.bytes && found.sha256 === pack.sha256) whole.push(pack);
    else rmSync(own, { force: true });
    done += pack.bytes;
  }
  return { earlier, packs: whole, damaged: packs.length - whole.length };
}

function progressOf({ progress }: LongWork, done: number, all: number): void {
  progress(() => `checking the blocks of the backup that is there: ${Math.floor((100 * done) / Math.max(1, all))} %`);
}

function packsIn(file: string): readonly Pack[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return packsOf(database);
  } finally {
    database.close();
  }
}

/** Gives a file a second name: it never changes. A disk that has no second names gets a copy with the same time, so that a program that copies folders sees that nothing is new. */
function take(from: string, to: string): void {
  try {
    linkSync(from, to);
    return;
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw error;
  }
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const { atime, mtime } = statSync(from);
  utimesSync(to, atime, mtime);
  sync(to);
}

/** Undefined: the earlier backup can't be read. A full disk is no matter of that backup. */
async function readable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const code = codeOf(error);
    if (code === undefined || code === "ENOSPC" || code === "EDQUOT") throw error;
    return undefined;
  }
}

/** The code of a failure of the system. */
function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^E[A-Z]+$/.test(code) ? code : undefined;
}
