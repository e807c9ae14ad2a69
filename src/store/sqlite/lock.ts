import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { openFailure } from "./folder.ts";
import { makePrivate } from "./private-files.ts";

/** Another process uses the data folder. */
export class DataFolderInUse extends Error {
  override readonly name = "DataFolderInUse";
  readonly directory: string;
  /** Process id of the holder. Undefined when it could not be read. */
  readonly pid: number | undefined;

  constructor(directory: string, pid: number | undefined) {
    const holder = pid === undefined ? "another process" : `process ${pid}`;
    super(`the data folder ${directory} is in use by ${holder}: end it first, or choose another folder`);
    this.directory = directory;
    this.pid = pid;
  }
}

const busy = 5;

/** Three seconds: `waybeam check` and `backup` have the lock while they read the log of a service that was killed. */
const lockTries = 30;
const lockPauseMs = 100;

/**
 * Locks the data folder until `release` or the end of the process, however it ends: a write transaction on a database
 * of its own is a lock that the operating system drops with the process. (SQLite's own lock on the data is too short
 * for this: it lasts for a statement.) Throws `DataFolderInUse` or `DataFolderUnusable`.
 */
export function lockFolder(directory: string, pid: number): { release(): void } {
  const holderFile = join(directory, "lock.pid");
  const file = "lock.db";
  let database: DatabaseSync | undefined;
  try {
    makePrivate(join(directory, file));
    database = new DatabaseSync(join(directory, file));
    database.exec("begin immediate");
    // Not written through a link that stands in its place.
    rmSync(holderFile, { force: true });
    makePrivate(holderFile);
    writeFileSync(holderFile, `${pid}\n`);
  } catch (error) {
    database?.close();
    if (error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === busy)
      throw new DataFolderInUse(directory, readPid(holderFile));
    throw openFailure(error, directory, file);
  }
  const held = database;
  return {
    release() {
      rmSync(holderFile, { force: true });
      held.close();
    },
  };
}

/** The same, and waits for a while where another process has the lock. */
export async function waitForFolder(directory: string, pid: number): Promise<{ release(): void }> {
  for (let left = lockTries; ; left--) {
    try {
      return lockFolder(directory, pid);
    } catch (error) {
      if (!(error instanceof DataFolderInUse) || left === 0) throw error;
    }
    await setTimeout(lockPauseMs);
  }
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
    return Number.isSafeInteger(pid) ? pid : undefined;
  } catch {
    // The holder is between taking the lock and writing its number.
    return undefined;
  }
}
