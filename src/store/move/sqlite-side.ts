import { rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Log } from "../../ports/log.ts";
import { giveLockToOwner } from "../backup/owner.ts";
import { hasData, isRestorePending } from "../backup/placing.ts";
import { checkVersion, keyIdsOf } from "../backup/version.ts";
import { firstNames, movingNumber } from "../migrations/migrations.ts";
import { openSqlitePositions, type SqlitePositions } from "../positions/sqlite/open.ts";
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
    if (hasData(directory)) await (await SqliteSide.#openEmpty(directory, pid, log)).#delete();
    await (await openSqliteStore({ directory, pid, log, mayHaveKeys: true })).close();
    return SqliteSide.#openEmpty(directory, pid, log);
  }

  static async #openEmpty(directory: string, pid: number, log: Log): Promise<SqliteSide> {
    const side = await SqliteSide.#open(directory, pid, log, () => {});
    if (side.#isEmpty()) return side;
    await side.close(false);
    throw new MoveRefused(
      `the data folder ${directory} holds data already`,
      `Choose a folder without a database by --to. ${endedMove}`,
    );
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

  /** Whether it holds what an unfinished move has copied, or only empty tables, or nothing. */
  #isEmpty(): boolean {
    const { logRows, blocks } = this.positions.figures();
    const names = this.#database.prepare("select name from sqlite_master where type = 'table'").all();
    const has = (table: string) => names.some(({ name }) => name === table);
    if (!has("migration")) return names.length === 0 && logRows + blocks === 0;
    const migrations = this.#database.prepare("select number, name from migration order by number").all();
    // Another program's.
    if (!firstNames.includes(String(migrations[0]?.name))) return false;
    if (migrations.at(-1)?.number === movingNumber) return true;
    const isUsed = has("account") && this.#database.prepare("select 1 from account").get() !== undefined;
    return !isUsed && logRows + blocks === 0;
  }

  /** Deletes both databases. `waybeam.db` goes last: by its rows a move that was killed here knows the folder. */
  async #delete(): Promise<void> {
    await this.positions.close();
    this.#database.close();
    for (const file of [positionsOf(this.shown), databaseOf(this.shown)]) {
      for (const end of ["", "-wal", "-shm"]) rmSync(`${file}${end}`, { force: true });
      sync(this.shown);
    }
    this.#release();
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

  async close(isWhole: boolean): Promise<void> {
    await this.positions.close();
    if (isWhole) {
      this.#database.exec("pragma wal_checkpoint(truncate)");
      this.#database.prepare("delete from migration where number = ?").run(movingNumber);
    }
    this.#database.close();
    this.#release();
  }

  #release(): void {
    giveLockToOwner(this.shown);
    this.#lock.release();
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
