import { rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Log } from "../../ports/log.ts";
import { giveLockToOwner, giveToOwner } from "../backup/owner.ts";
import { hasData, isRestorePending } from "../backup/placing.ts";
import { checkVersion, keyIdsOf } from "../backup/version.ts";
import { movingNumber } from "../migrations/migrations.ts";
import { openSqlitePositions, type SqlitePositions } from "../positions/sqlite/open.ts";
import { openUnchanged } from "../sqlite/before-opening.ts";
import { checkTogether, databaseOf, makeFolder, positionsOf } from "../sqlite/folder.ts";
import { waitForFolder } from "../sqlite/lock.ts";
import { openSqliteStore } from "../sqlite/open.ts";
import { checkPair } from "../sqlite/pair.ts";
import { sync } from "../sqlite/private-files.ts";
import { endedMove, MoveRefused } from "./refused.ts";
import { type Cell, quoted, type Row, type Side } from "./side.ts";
import type { MovedTable } from "./tables.ts";

const busyTimeoutMs = 5000;

/** A data folder. */
export class SqliteSide implements Side {
  readonly shown: string;
  readonly positions: SqlitePositions;
  readonly #database: DatabaseSync;
  readonly #lock: { release(): void };

  private constructor(
    directory: string,
    lock: { release(): void },
    database: DatabaseSync,
    positions: SqlitePositions,
  ) {
    this.shown = resolve(directory);
    this.#lock = lock;
    this.#database = database;
    this.positions = positions;
  }

  /**
   * Locks a folder that a service uses otherwise. Rejects with `MoveRefused`, `DataFolderInUse`, and what
   * `checkTogether`, `checkPair` and `checkVersion` throw.
   */
  static async openSource(directory: string, pid: number, log: Log): Promise<SqliteSide> {
    refusePending(directory);
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory() || !hasData(directory))
      throw new MoveRefused(
        `${directory} is no data folder: it has no waybeam.db`,
        "Name the data folder of the service by --from.",
      );
    return SqliteSide.#open(directory, pid, log, (database) => {
      checkTogether(directory);
      checkPair(directory);
      checkVersion(database);
    });
  }

  /** Makes the tables where there is no data. What an unfinished move left is deleted first. */
  static async openTarget(directory: string, pid: number, log: Log): Promise<SqliteSide> {
    refusePending(directory);
    makeFolder(directory);
    await deleteUnfinished(directory, pid);
    try {
      await (await openSqliteStore({ directory, pid, log, forMove: true })).close();
    } finally {
      giveLockToOwner(directory);
      // Where a link leads elsewhere, to the owner of the folder there: nobody gets a file in a folder of another's.
      for (const file of [databaseOf(directory), positionsOf(directory)]) giveToOwner(dirname(file), [file]);
    }
    // Another move may have come in between.
    return SqliteSide.#open(directory, pid, log, () => {
      if (foundIn(databaseOf(directory)) !== "unfinished") throw holdsData(directory);
    });
  }

  static async #open(
    directory: string,
    pid: number,
    log: Log,
    check: (database: DatabaseSync) => void,
  ): Promise<SqliteSide> {
    const lock = await waitForFolder(directory, pid);
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(databaseOf(directory), { timeout: busyTimeoutMs });
      check(database);
      const positions = await openSqlitePositions({
        file: positionsOf(directory),
        log,
        // What a kill left to be followed stays in the log: nobody follows it here.
        mostLogBytes: Number.POSITIVE_INFINITY,
      });
      return new SqliteSide(directory, lock, database, positions);
    } catch (error) {
      database?.close();
      giveLockToOwner(directory);
      lock.release();
      throw error;
    }
  }

  async page({ name, key }: MovedTable, after: Row | undefined, limit: number): Promise<readonly Row[]> {
    const columns = key.map(quoted).join(", ");
    const behind = after === undefined ? "" : `where (${columns}) > (${key.map(() => "?").join(", ")})`;
    const rows = this.#database
      .prepare(`select * from ${quoted(name)} ${behind} order by ${columns} limit ${limit}`)
      .all(...(after === undefined ? [] : key.map((column) => after[column] ?? null)));
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, cellOf(value)])));
  }

  async count({ name }: MovedTable): Promise<number> {
    return Number(this.#database.prepare(`select count(*) as n from ${quoted(name)}`).get()?.n);
  }

  async together(work: () => Promise<void>): Promise<void> {
    this.#database.exec("begin immediate");
    try {
      await work();
      this.#database.exec("commit");
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("rollback");
      throw error;
    }
  }

  async clear({ name }: MovedTable): Promise<void> {
    this.#database.exec(`delete from ${quoted(name)}`);
  }

  async put({ name }: MovedTable, rows: readonly Row[]): Promise<void> {
    const columns = Object.keys(rows[0] ?? {});
    const insert = this.#database.prepare(
      `insert into ${quoted(name)} (${columns.map(quoted).join(", ")}) values (${columns.map(() => "?").join(", ")})`,
    );
    for (const row of rows) insert.run(...columns.map((column): SQLInputValue => row[column] ?? null));
  }

  async highest({ name }: MovedTable): Promise<number> {
    return Number(this.#database.prepare("select seq from sqlite_sequence where name = ?").get(name)?.seq ?? 0);
  }

  async goOnBehind({ name }: MovedTable, highest: number): Promise<void> {
    this.#database.prepare("delete from sqlite_sequence where name = ?").run(name);
    if (highest === 0) return;
    this.#database.prepare("insert into sqlite_sequence (name, seq) values (?, ?)").run(name, BigInt(highest));
  }

  async keyIds(): Promise<readonly string[]> {
    return keyIdsOf(this.#database);
  }

  async close(isWhole: boolean): Promise<void> {
    try {
      await this.positions.close();
      if (isWhole) {
        this.#database.exec("pragma wal_checkpoint(truncate)");
        this.#database.prepare("delete from migration where number = ?").run(movingNumber);
      }
    } finally {
      this.#database.close();
      giveLockToOwner(this.shown);
      this.#lock.release();
    }
  }
}

/** Deletes what an unfinished move left. Rejects with `MoveRefused` where the folder holds other data. */
async function deleteUnfinished(directory: string, pid: number): Promise<void> {
  if (!hasData(directory)) return;
  const lock = await waitForFolder(directory, pid);
  try {
    const found = foundIn(databaseOf(directory));
    if (found === "data") throw holdsData(directory);
    // `waybeam.db` goes last: by its rows a move that was killed here knows the folder.
    if (found === "unfinished")
      for (const file of [positionsOf(directory), databaseOf(directory)]) {
        for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
        sync(dirname(file));
      }
  } finally {
    giveLockToOwner(directory);
    lock.release();
  }
}

function holdsData(directory: string): MoveRefused {
  return new MoveRefused(
    `the data folder ${directory} holds data already`,
    `Choose a folder without a database by --to. ${endedMove}`,
  );
}

/** What a database holds: `unfinished`: what a move has copied so far. */
function foundIn(file: string): "nothing" | "unfinished" | "data" {
  // A log may be left of one that was deleted.
  if (!statSync(file, { throwIfNoEntry: false })?.size) return "nothing";
  const database = openUnchanged(file);
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
    if (tables.length === 0) return "nothing";
    if (!tables.some(({ name }) => name === "migration")) return "data";
    const newest = database.prepare("select max(number) as number from migration").get()?.number;
    return newest === movingNumber ? "unfinished" : "data";
  } finally {
    database.close();
  }
}

/** The databases that a restore has not put in place yet are the folder's data. */
function refusePending(directory: string): void {
  if (isRestorePending(directory))
    throw new MoveRefused(
      `a restore into ${directory} was cut short`,
      "Start the service there once, which ends the restore, or choose another folder.",
    );
}

function cellOf(value: unknown): Cell {
  if (value === null || typeof value === "number" || typeof value === "string" || value instanceof Uint8Array)
    return value;
  throw new TypeError(`no column holds a ${typeof value}`);
}
