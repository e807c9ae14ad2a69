import type { Log } from "../../ports/log.ts";
import { migrate, movingNumber } from "../migrations/migrations.ts";
import { PostgresTables } from "../postgres/dialect.ts";
import { engine } from "../postgres/engine.ts";
import { makePool } from "../postgres/pool.ts";
import { usualTimes } from "../postgres/times.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";
import type { Statement } from "../postgres/wire/messages.ts";
import { step } from "../postgres/wire/session.ts";
import { text, type Value } from "../postgres/wire/values.ts";
import {
  type Journal,
  journalOf,
  journalTable,
  makeJournal,
  type Origin,
  readJournal,
  writePosition,
} from "./journal.ts";
import { PostgresRows } from "./postgres-rows.ts";
import { type HeldDatabase, holdDatabase } from "./postgres-session.ts";
import { ask } from "./postgres-source.ts";
import { array, parameter, typeName } from "./postgres-values.ts";
import { MoveRefused } from "./refused.ts";
import { type Key, type Page, quoted, type Row, type Table } from "./rows.ts";
import type { TargetSide } from "./sides.ts";
import { mayHoldRows, movedTables } from "./tables.ts";

const note: Statement = {
  name: "note",
  sql: `insert into ${journalTable} (name, value) values ($1::text, $2::text) on conflict (name) do update set value = excluded.value`,
};

/** A statement that is run once. */
function once(sql: string, ...values: Value[]) {
  return step({ name: "", sql }, ...values);
}

/** A PostgreSQL database that is filled. */
export class PostgresTarget implements TargetSide {
  readonly database = undefined;
  readonly #held: HeldDatabase;
  readonly #log: Log;
  readonly #rows: PostgresRows;
  readonly #inserts = new Map<string, Statement>();
  #journal: Journal | undefined;

  private constructor(held: HeldDatabase, log: Log, journal: Journal | undefined) {
    this.#held = held;
    this.#log = log;
    this.#rows = new PostgresRows(held.session);
    this.#journal = journal;
  }

  /** Locks a database. Rejects with `MoveRefused` where it holds anything but a move that has not ended, and as `holdDatabase` does. */
  static async open(url: string, log: Log): Promise<PostgresTarget> {
    const held = await holdDatabase(url, log, false);
    try {
      const journal = await journalIn(held);
      if (journal === undefined) await checkFree(held);
      return new PostgresTarget(held, log, journal);
    } catch (error) {
      await held.close();
      throw error;
    }
  }

  get shown(): string {
    return this.#held.shown;
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

  /** What remains is a store that holds nothing. */
  async clear(): Promise<void> {
    // Another version of the program may have begun.
    const names: string[] = [];
    for (const { name } of movedTables) if (await isThere(this.#held, name)) names.push(name);
    await inTransaction(this.#held.session, async ({ begin, commit }) => {
      await begin(once(`truncate ${names.map(quoted).join(", ")}`));
      await this.#end(names, commit);
    });
    this.#journal = undefined;
  }

  async begin(origin: Origin): Promise<void> {
    if (this.#journal !== undefined) return;
    const { address, session } = this.#held;
    const tables = new PostgresTables(
      makePool({ address, connections: 1, times: usualTimes, mayTakeLong: true, log: this.#log }),
      usualTimes.statement,
    );
    try {
      await migrate(tables, engine);
    } finally {
      await tables.destroy();
    }
    await inTransaction(session, async ({ begin, commit }) => {
      await begin(once(makeJournal));
      for (const [name, value] of journalOf(origin)) await session.run(step(note, text(name), text(value)));
      for (const { name } of movedTables) await session.run(once(`alter table ${quoted(name)} disable trigger user`));
      for (const name of mayHoldRows) await session.run(once(`delete from ${quoted(name)}`));
      await commit(once(`insert into migration (number, name) values (${movingNumber}, 'move')`));
    });
  }

  /** Statements that go together are one transaction. */
  async put(table: Table, rows: readonly Row[], after: Key | undefined): Promise<void> {
    const at = step(note, text("at"), text(writePosition({ table: table.name, after })));
    if (rows.length === 0) await this.#held.session.run(at);
    else {
      const columns = table.columns.map((column, index) =>
        array(
          rows.map((row) => row[index] ?? null),
          column,
        ),
      );
      await this.#held.session.run(step(this.#insertOf(table), ...columns), at);
    }
  }

  async settle(sequences: ReadonlyMap<string, bigint>): Promise<void> {
    const { session } = this.#held;
    for (const { name, key } of movedTables) {
      const highest = sequences.get(name);
      if (highest !== undefined) {
        const [value, isCalled] = highest > 0n ? [highest, true] : [1n, false];
        const sql = `select setval(pg_get_serial_sequence('${quoted(name)}', '${key[0]}'), $1::bigint, ${isCalled})`;
        await session.run(once(sql, parameter(value, { type: "int" })));
      }
      await session.run(once(`analyze ${quoted(name)}`));
    }
  }

  async finish(): Promise<void> {
    await inTransaction(this.#held.session, async ({ begin, commit }) => {
      await begin();
      await this.#end(
        movedTables.map(({ name }) => name),
        commit,
      );
    });
    this.#journal = undefined;
  }

  close(): Promise<void> {
    return this.#held.close();
  }

  async #end(names: readonly string[], commit: Transaction["commit"]): Promise<void> {
    const { session } = this.#held;
    for (const name of names) await session.run(once(`alter table ${quoted(name)} enable trigger user`));
    await session.run(once(`drop table ${journalTable}`));
    await commit(once(`delete from migration where number = ${movingNumber}`));
  }

  #insertOf({ name, columns }: Table): Statement {
    const known = this.#inserts.get(name);
    if (known !== undefined) return known;
    const names = columns.map((column) => quoted(column.name)).join(", ");
    const marks = columns.map((column, index) => `$${index + 1}::${typeName(column)}[]`).join(", ");
    const made = { name: `put_${name}`, sql: `insert into ${quoted(name)} (${names}) select * from unnest(${marks})` };
    this.#inserts.set(name, made);
    return made;
  }
}

async function isThere(held: HeldDatabase, table: string): Promise<boolean> {
  const [row] = await ask(held, `select (to_regclass('${quoted(table)}') is not null)::int::bigint`);
  return row?.int() === 1;
}

async function journalIn(held: HeldDatabase): Promise<Journal | undefined> {
  if (!(await isThere(held, "migration"))) return undefined;
  const [newest, before] = await ask(held, "select number::bigint from migration order by number desc limit 2");
  if (newest?.int() !== movingNumber) return undefined;
  const rows = await ask(held, `select name, value from ${journalTable}`);
  return readJournal(new Map(rows.map((row) => [row.text() ?? "", row.text() ?? ""])), before?.int() ?? 0);
}

/** Throws `MoveRefused` where a database holds anything that is not of a move. */
async function checkFree(held: HeldDatabase): Promise<void> {
  for (const { name } of movedTables) {
    if (mayHoldRows.has(name) || !(await isThere(held, name))) continue;
    if ((await ask(held, `select 1::bigint from ${quoted(name)} limit 1`)).length > 0)
      throw new MoveRefused(
        `${held.shown} holds data already`,
        "Make another database (createdb), and name it by --to.",
      );
  }
}
