import { chmodSync, mkdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { StoreUnavailable } from "../../ports/store.ts";
import { EngineError } from "../failures.ts";

/**
 * The data folder, or a file in it, can't be used as it is. The message names the folder and why, `advice` what to do
 * about it.
 */
export class DataFolderUnusable extends Error {
  override readonly name = "DataFolderUnusable";
  readonly directory: string;
  readonly advice: string;

  constructor(directory: string, why: string, advice: string, cause: unknown) {
    super(`can't use the data folder ${directory}: ${why}`, { cause });
    this.directory = directory;
    this.advice = advice;
  }
}

/** What to do where nothing more is known. */
export const dataFolderAdvice =
  "Choose another folder by WAYBEAM_DATA, or make this one usable for the user that runs the service.";

/**
 * Makes the data folder where it is not there, and what of its parents is missing, each readable by its owner only.
 * Not by Node's own `recursive`: it tries again for ever where the system says of a folder that is there that it is
 * not, as under /proc. Throws `DataFolderUnusable`.
 */
export function makeFolder(directory: string): void {
  try {
    for (const path of missingParts(resolve(directory)).reverse()) makeOne(path);
    if (statSync(directory).isDirectory()) return;
  } catch (error) {
    throw new DataFolderUnusable(directory, `it can't be made (${textOf(error)})`, dataFolderAdvice, error);
  }
  throw new DataFolderUnusable(directory, "it is not a folder", dataFolderAdvice, undefined);
}

/** The file of a folder's database. */
export function databaseOf(directory: string): string {
  return linkedFile(directory, "waybeam.db");
}

/** The file of a folder's positions. */
export function positionsOf(directory: string): string {
  return linkedFile(directory, "positions.db");
}

/**
 * The operator may keep a database on another disk, with a link in its place: SQLite then puts its log beside the file
 * that the link leads to, and so it is named here.
 */
function linkedFile(directory: string, name: string): string {
  const file = join(realpathSync(directory), name);
  try {
    return realpathSync(file);
  } catch {
    // There is no database yet.
    return linkTarget(file) ?? file;
  }
}

/** Returns the path that a link names, or undefined when the file is no link. */
function linkTarget(file: string): string | undefined {
  try {
    return resolve(dirname(file), readlinkSync(file));
  } catch {
    return undefined;
  }
}

/** What to do where a file is missing, or is another one. */
export const lost =
  "Put it back from where the folder was copied, or restore a backup. To begin anew instead, move the other files away, or choose another folder by WAYBEAM_DATA.";

/**
 * Throws `DataFolderUnusable` where one of the two databases is missing: a new one would be made in its place, without
 * a word. A start makes both files before it writes into one of them. `forMove`: credentials without a database are no
 * fault.
 */
export function checkTogether(directory: string, forMove = false): void {
  const [rows, positions] = [databaseOf(directory), positionsOf(directory)].map((file) =>
    statSync(file, { throwIfNoEntry: false }),
  );
  const refuse = (missing: string, other: string) => {
    throw new DataFolderUnusable(directory, `${missing} is missing, though ${other} is there`, lost, undefined);
  };
  if (!rows?.size && positions?.size) refuse("waybeam.db", "positions.db");
  if (!rows?.size && !forMove && statSync(join(directory, "credentials.json"), { throwIfNoEntry: false }))
    refuse("waybeam.db", "credentials.json of a service");
  if (rows?.size && positions === undefined) refuse("positions.db", "waybeam.db");
}

/** The path and its parents that are not there, innermost first. */
function missingParts(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  const parent = dirname(path);
  return found === undefined && parent !== path ? [path, ...missingParts(parent)] : [];
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
    // The umask may have taken the owner's own rights.
    chmodSync(path, 0o700);
  } catch (error) {
    // Another process was faster. What is there instead of a folder is found by the next step.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/**
 * SQLite's primary result codes (https://www.sqlite.org/rescode.html), and what to do about a file of the data folder
 * that gives one.
 */
const adviceOf: ReadonlyMap<number, string> = new Map([
  [3, dataFolderAdvice],
  [5, "End the program that has it open, and start again."],
  [6, "End the program that has it open, and start again."],
  [8, dataFolderAdvice],
  [11, "Restore it from a backup, or run the service in another folder by WAYBEAM_DATA."],
  [13, "Free some space on its disk, and start again."],
  [14, dataFolderAdvice],
  [
    26,
    "Move it away if it is not the service's, restore a backup if it was, or choose another folder by WAYBEAM_DATA.",
  ],
]);
const fallbackAdvice =
  "Look whether it is the service's own file and whole; restore a backup, or choose another folder by WAYBEAM_DATA.";

/**
 * What a failure while a file of the folder was opened means to who starts the service; failures that are no engine's
 * stay what they are.
 */
export function openFailure(error: unknown, directory: string, name: string): unknown {
  const cause = error instanceof StoreUnavailable ? (error.cause ?? error) : error;
  const code = engineCode(cause);
  if (!(cause instanceof Error) || (code === undefined && !(cause instanceof StoreUnavailable))) return error;
  const primary = code === undefined ? undefined : code & 0xff;
  const why = primary === 14 ? `no file can be made or opened in it (${name})` : `${name}: ${cause.message}`;
  return new DataFolderUnusable(directory, why, adviceOf.get(primary ?? -1) ?? fallbackAdvice, error);
}

/** SQLite's extended result code of a failure, in a worker or in this thread. */
function engineCode(error: unknown): number | undefined {
  const ofThread = error instanceof Error && "errcode" in error ? error.errcode : undefined;
  const code = error instanceof EngineError ? error.code : ofThread;
  return typeof code === "number" ? code : undefined;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
