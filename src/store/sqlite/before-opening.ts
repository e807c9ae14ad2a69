import { statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { keyIdsOf } from "../backup/version.ts";
import { checkNumber } from "../migrations/migrations.ts";
import { checkKeys } from "../secrets/unlock.ts";
import { DataFolderUnusable, dataFolderAdvice } from "./folder.ts";

const foreign = "Move it away, or choose another folder by WAYBEAM_DATA. Nothing was changed.";

/**
 * Bytes of the header of SQLite's own log (https://www.sqlite.org/fileformat2.html, 4.1): a shorter one holds nothing.
 */
const logHeaderBytes = 32;
/** Another program that moves the log locks the database meanwhile, ms. */
const timeout = 5000;

/**
 * Opens a database so that no octet of it or of its log changes. A connection that only reads never moves the log.
 * Where there is no log, it would make an empty one, so `immutable` says that nobody writes.
 */
export function openUnchanged(file: string): DatabaseSync {
  const address = pathToFileURL(file);
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  if (log < logHeaderBytes) address.searchParams.set("immutable", "1");
  return new DatabaseSync(address, { readOnly: true, timeout });
}

/**
 * Refuses a database that is not for this program, or whose secrets' key is not there, before anything opens it for
 * writing. Throws what `checkNumber` and `checkKeys` do, and SQLite's errors about a file that is no whole database.
 * `secretFile`: undefined where nothing is encrypted.
 */
export function checkBeforeOpening(file: string, secretFile: string | undefined): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory())
    throw new DataFolderUnusable(dirname(file), "waybeam.db is not a file", dataFolderAdvice, undefined);
  const isNew = (found?.size ?? 0) === 0;
  const { version, first, keys } = isNew ? { version: 0, first: undefined, keys: [] } : readFirst(file);
  checkNumber(version, first);
  if (secretFile !== undefined) checkKeys(secretFile, keys);
}

interface First {
  readonly version: number;
  /** What the first migration is called. */
  readonly first: string | undefined;
  readonly keys: readonly string[];
}

function readFirst(file: string): First {
  const database = openUnchanged(file);
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
    const has = (table: string) => tables.some(({ name }) => name === table);
    if (tables.length > 0 && !has("migration"))
      throw new DataFolderUnusable(dirname(file), "waybeam.db is another program's database", foreign, undefined);
    const ofMigrations = "select number, name from migration order by number";
    const migrations = has("migration") ? database.prepare(ofMigrations).all() : [];
    const [first, newest] = [migrations[0], migrations.at(-1)];
    return {
      version: Number(newest?.number ?? 0),
      first: first && String(first.name),
      keys: has("setting") ? keyIdsOf(database) : [],
    };
  } finally {
    database.close();
  }
}
