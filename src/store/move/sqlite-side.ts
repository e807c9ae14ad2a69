import { rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Log } from "../../ports/log.ts";
import { giveLockToOwner } from "../backup/owner.ts";
import { hasData, isRestorePending } from "../backup/placing.ts";
import { checkVersion, keyIdsOf } from "../backup/version.ts";
import { movingNumber } from "../migrations/migrations.ts";
import { openSqlitePositions, type SqlitePositions } from "../positions/sqlite/open.ts";
import { databaseOf, makeFolder, positionsOf } from "../sqlite/folder.ts";
import { waitForFolder } from "../sqlite/lock.ts";
import { openSqliteStore } from "../sqlite/open.ts";
import { sync } from "../sqlite/private-files.ts";
import { MoveRefused } from "./refused.ts";
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
   * Locks a folder that a service uses otherwise. Rejects with `MoveRefused`, `DataFolderInUse` and what `checkVersion`
   * throws.
   */
  static async openSource(directory: string, pid: number, log: Log): Promise<SqliteSide> {
    refusePending(directory);
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory() || !hasData(directory))
      throw new MoveRefused(
        `${directory} is no data folder: it has no waybeam.db`,
        "Name the data folder of the service by --from.",
      );
    return SqliteSide.#open(directory, pid, log, (database) => checkVersion(database));
  }

  /** Makes the tables of a folder that holds no data, or what a move that has not ended has made: that goes. */
  static async openTarget(directory: string, pid: number, log: Log): Promise<SqliteSide> {
    refusePending(directory);
    makeFolder(directory);
    if (hasData(directory)) {
      const half = await SqliteSide.#open(directory, pid, log, () => {});
      const isHalf = half.#isHalf();
      await half.close();
      if (!isHalf)
        throw new MoveRefused(
          `the data folder ${directory} holds data already`,
          "Choose a folder without a database by --to.",
        );
      // A move that is cut short here knows the folder again by its rows: they go last.
      for (const file of [positionsOf(directory), databaseOf(directory)]) {
        for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
        sync(directory);
      }
    }
    await (await openSqliteStore({ directory, pid, log })).close();
    return SqliteSide.#open(directory, pid, log, () => {});
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
        ...{ file: positionsOf(directory), log },
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

  /** Whether a move made it that has not ended. It may have made the tables alone, which hold nothing. */
  #isHalf(): boolean {
    const { logRows, blocks } = this.positions.figures();
    const names = this.#database.prepare("select name from sqlite_master where type = 'table'").all();
    const has = (table: string) => names.some(({ name }) => name === table);
    if (!has("migration")) return names.length === 0 && logRows + blocks === 0;
    if (this.#database.prepare("select 1 from migration where number = ?").get(movingNumber) !== undefined) return true;
    const isUsed = has("account") && this.#database.prepare("select 1 from account").get() !== undefined;
    return !isUsed && logRows + blocks === 0;
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

  async begin(): Promise<void> {
    this.#database.prepare("insert or ignore into migration (number, name) values (?, 'moving')").run(movingNumber);
  }

  async finish(): Promise<void> {
    this.#database.prepare("delete from migration where number = ?").run(movingNumber);
  }

  async close(): Promise<void> {
    await this.positions.close();
    this.#database.close();
    giveLockToOwner(this.shown);
    this.#lock.release();
  }
}

/** The databases that a restore has not put in place yet are the folder's data. */
function refusePending(directory: string): void {
  if (isRestorePending(directory))
    throw new MoveRefused(
      `a restore into ${directory} was cut short`,
      "Start the service there once, or restore again. Then move.",
    );
}

function cellOf(value: unknown): Cell {
  if (value === null || typeof value === "number" || typeof value === "string" || value instanceof Uint8Array)
    return value;
  throw new TypeError(`no column holds a ${typeof value}`);
}
