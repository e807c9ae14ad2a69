import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { Kysely, SqliteDialect } from "kysely";
import { giveLockToOwner, giveToOwner } from "../backup/owner.ts";
import { hasData, isRestorePending } from "../backup/placing.ts";
import { checkNumber, migrate, movingNumber } from "../migrations/migrations.ts";
import type { Schema } from "../schema.ts";
import { LocklessCompiler } from "../sqlite/compiler.ts";
import { engine } from "../sqlite/engine.ts";
import { databaseOf, makeFolder } from "../sqlite/folder.ts";
import { waitForFolder } from "../sqlite/lock.ts";
import { forgetGoneLog } from "../sqlite/open-mark.ts";
import { makePrivate } from "../sqlite/private-files.ts";
import { inTransaction } from "../sqlite/transaction.ts";
import { checkWhole } from "../sqlite/whole.ts";
import {
  type Journal,
  journalOf,
  journalTable,
  makeJournal,
  type Origin,
  readJournal,
  writePosition,
} from "./journal.ts";
import { MoveRefused } from "./refused.ts";
import { type Cell, type Key, type Page, quoted, type Row, type Table } from "./rows.ts";
import type { TargetSide } from "./sides.ts";
import { input, SqliteRows } from "./sqlite-rows.ts";
import { mayHoldRows, movedTables } from "./tables.ts";

/* As the service's writer (`sqlite/writer.ts`), so that it finds what it would have made itself. Rows are read in steps of a table, so what refers to a row may come without it. */
const pragmas = `
  pragma page_size = 8192;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma foreign_keys = off;
  pragma cache_size = -64000;
`;

/** Files of a database, without those of the lock. */
const ofDatabase = ["", "-wal", "-shm", "-journal", "-open"];

/** A data folder that is filled. */
export class SqliteTarget implements TargetSide {
  readonly shown: string;
  readonly #lock: { release(): void };
  #rows: SqliteRows;
  #journal: Journal | undefined;
  readonly #inserts = new Map<string, StatementSync>();

  private constructor(shown: string, lock: { release(): void }, database: DatabaseSync) {
    this.shown = shown;
    this.#lock = lock;
    this.#rows = new SqliteRows(database);
    this.#journal = journalIn(database);
  }

  /** Locks a folder, which is made where it is not there. Rejects with `MoveRefused` where it holds anything but a move that has not ended, and as `serve` does where it can't be used. */
  static async open(directory: string, pid: number): Promise<SqliteTarget> {
    makeFolder(directory);
    const lock = await waitForFolder(directory, pid);
    let database: DatabaseSync | undefined;
    try {
      if (isRestorePending(directory))
        throw new MoveRefused(
          `a restore into ${directory} was cut short`,
          "Run `waybeam restore` again, or choose another folder.",
        );
      const isNew = !hasData(directory);
      if (isNew) forgetGoneLog(databaseOf(directory));
      else checkWhole(directory);
      makePrivate(databaseOf(directory));
      database = new DatabaseSync(join(directory, "waybeam.db"));
      if (!isNew) checkFree(database, directory);
      return new SqliteTarget(directory, lock, database);
    } catch (error) {
      database?.close();
      giveBack(directory);
      lock.release();
      throw error;
    }
  }

  get database(): DatabaseSync {
    return this.#rows.database;
  }

  get journal(): Journal | undefined {
    return this.#journal;
  }

  page(table: Table, after: Key | undefined): Promise<Page> {
    return this.#rows.page(table, after);
  }

  sequences(): Promise<ReadonlyMap<string, bigint>> {
    return this.#rows.sequences();
  }

  async clear(): Promise<void> {
    this.database.close();
    this.#inserts.clear();
    const file = databaseOf(this.shown);
    for (const suffix of ofDatabase) rmSync(`${file}${suffix}`, { force: true });
    makePrivate(file);
    this.#rows = new SqliteRows(new DatabaseSync(join(this.shown, "waybeam.db")));
    this.#journal = undefined;
  }

  async begin(origin: Origin): Promise<void> {
    this.database.exec(pragmas);
    if (this.#journal !== undefined) return;
    await makeTables(this.database);
    inTransaction(this.database, () => {
      this.database.exec(makeJournal);
      const note = this.database.prepare(`insert into ${journalTable} values (?, ?)`);
      for (const [name, value] of journalOf(origin)) note.run(name, value);
      const triggers = this.database
        .prepare("select name, sql from sqlite_master where type = 'trigger' order by rowid")
        .all();
      note.run("triggers", JSON.stringify(triggers.map(({ sql }) => sql)));
      for (const { name } of triggers) this.database.exec(`drop trigger ${quoted(String(name))}`);
      for (const table of mayHoldRows) this.database.exec(`delete from ${quoted(table)}`);
      this.database.prepare("insert into migration (number, name) values (?, 'move')").run(movingNumber);
    });
  }

  async put(table: Table, rows: readonly Row[], after: Key | undefined): Promise<void> {
    const insert = this.#insertOf(table);
    inTransaction(this.database, () => {
      for (const row of rows) insert.run(...row.map((cell, at) => asInput(cell, table, at)));
      this.database
        .prepare(`update ${journalTable} set value = ? where name = 'at'`)
        .run(writePosition({ table: table.name, after }));
    });
  }

  async settle(sequences: ReadonlyMap<string, bigint>): Promise<void> {
    inTransaction(this.database, () => {
      for (const [table, highest] of sequences) {
        this.database.prepare("delete from sqlite_sequence where name = ?").run(table);
        if (highest > 0n)
          this.database.prepare("insert into sqlite_sequence (name, seq) values (?, ?)").run(table, highest);
      }
    });
  }

  async finish(): Promise<void> {
    inTransaction(this.database, () => {
      const found = this.database.prepare(`select value from ${journalTable} where name = 'triggers'`).get();
      const triggers: unknown = JSON.parse(String(found?.value));
      if (!Array.isArray(triggers)) throw new TypeError("no triggers");
      for (const sql of triggers) this.database.exec(String(sql));
      this.database.exec(`drop table ${journalTable}`);
      this.database.prepare("delete from migration where number = ?").run(movingNumber);
    });
    this.#journal = undefined;
    this.database.exec("pragma wal_checkpoint(truncate)");
  }

  async close(): Promise<void> {
    this.database.close();
    giveBack(this.shown);
    this.#lock.release();
  }

  #insertOf(table: Table): StatementSync {
    const known = this.#inserts.get(table.name);
    if (known !== undefined) return known;
    const names = table.columns.map(({ name }) => quoted(name)).join(", ");
    const marks = table.columns.map(({ type }) => (type === "text" ? "cast(? as text)" : "?")).join(", ");
    const made = this.database.prepare(`insert into ${quoted(table.name)} (${names}) values (${marks})`);
    this.#inserts.set(table.name, made);
    return made;
  }
}

function asInput(cell: Cell, { columns, name }: Table, at: number): SQLInputValue {
  // It would be stored as null.
  if (typeof cell === "number" && Number.isNaN(cell))
    throw new MoveRefused(
      `${columns[at]?.name} of a row of ${name} is no number`,
      "Set it to a number in the database.",
    );
  return input(cell);
}

/** Brings the tables of a database up to date, in this thread. */
async function makeTables(database: DatabaseSync): Promise<void> {
  const prepare = (sql: string) => {
    const statement = database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (values: readonly unknown[]) => statement.all(...values.map(parameter)),
      run: (values: readonly unknown[]) => statement.run(...values.map(parameter)),
      iterate: (values: readonly unknown[]) => statement.iterate(...values.map(parameter)),
    };
  };
  await migrate(
    new Kysely<Schema>({ dialect: new LocklessDialect({ database: { prepare, close: () => undefined } }) }),
    engine,
  );
}

class LocklessDialect extends SqliteDialect {
  override createQueryCompiler(): LocklessCompiler {
    return new LocklessCompiler();
  }
}

function parameter(value: unknown): SQLInputValue {
  if (value === null || typeof value === "string" || typeof value === "number") return value;
  throw new TypeError(`no column holds a ${typeof value}`);
}

/** The superuser may do the work for a service that is somebody else. */
function giveBack(directory: string): void {
  const file = databaseOf(directory);
  giveToOwner(
    directory,
    ofDatabase.map((suffix) => `${file}${suffix}`),
  );
  giveLockToOwner(directory);
}

function has(database: DatabaseSync, table: string): boolean {
  return database.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(table) !== undefined;
}

function numbersIn(database: DatabaseSync): readonly number[] {
  if (!has(database, "migration")) return [];
  return database
    .prepare("select number from migration order by number")
    .all()
    .map(({ number }) => Number(number));
}

function journalIn(database: DatabaseSync): Journal | undefined {
  const numbers = numbersIn(database);
  if (numbers.at(-1) !== movingNumber) return undefined;
  const rows = database.prepare(`select name, value from ${journalTable}`).all();
  return readJournal(new Map(rows.map(({ name, value }) => [String(name), String(value)])), numbers.at(-2) ?? 0);
}

/** Throws `MoveRefused` where a database holds anything that is not of a move. */
function checkFree(database: DatabaseSync, directory: string): void {
  const newest = numbersIn(database).at(-1);
  if (newest === movingNumber) return;
  if (newest !== undefined) checkNumber(newest);
  else if (database.prepare("select 1 from sqlite_master limit 1").get() !== undefined)
    throw new MoveRefused(`waybeam.db in ${directory} is another program's database`, "Choose another folder.");
  const held = movedTables.find(
    ({ name }) =>
      !mayHoldRows.has(name) &&
      has(database, name) &&
      database.prepare(`select 1 from ${quoted(name)} limit 1`).get() !== undefined,
  );
  if (held === undefined) return;
  throw new MoveRefused(
    `the data folder ${directory} holds data already`,
    "Choose another folder, or move waybeam.db, and the files beside it whose names begin so, out of this one.",
  );
}
