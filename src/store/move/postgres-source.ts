import type { Log } from "../../ports/log.ts";
import { checkNumber, dataVersion } from "../migrations/migrations.ts";
import { step } from "../postgres/wire/session.ts";
import type { Row as RowOfServer } from "../postgres/wire/values.ts";
import type { Origin } from "./journal.ts";
import { PostgresRows } from "./postgres-rows.ts";
import { type HeldDatabase, holdDatabase } from "./postgres-session.ts";
import { MoveRefused } from "./refused.ts";
import type { Key, Page, Table } from "./rows.ts";
import type { SourceSide } from "./sides.ts";
import { tooOld } from "./sqlite-source.ts";

/** Runs a question that is asked once. */
export async function ask({ session }: Pick<HeldDatabase, "session">, sql: string): Promise<readonly RowOfServer[]> {
  const [result] = await session.run(step({ name: "", sql }));
  return result?.rows ?? [];
}

/** A PostgreSQL database that is copied. */
export class PostgresSource implements SourceSide {
  readonly database = undefined;
  readonly told: readonly string[] = [];
  readonly #held: HeldDatabase;
  readonly #rows: PostgresRows;

  private constructor(held: HeldDatabase) {
    this.#held = held;
    this.#rows = new PostgresRows(held.session);
  }

  /** Locks a database. Rejects with `MoveRefused`, as `holdDatabase` does, and with what `checkNumber` throws. */
  static async open(url: string, log: Log): Promise<PostgresSource> {
    const held = await holdDatabase(url, log, true);
    try {
      const [there] = await ask(held, "select (to_regclass('migration') is not null)::int::bigint");
      if (there?.int() !== 1)
        throw new MoveRefused(
          `${held.shown} holds no data of a service`,
          "Name the database of the service by --from.",
        );
      const [newest] = await ask(held, "select max(number)::bigint from migration");
      const version = newest?.int() ?? 0;
      checkNumber(version);
      if (version < dataVersion) throw tooOld(held.shown, version);
      return new PostgresSource(held);
    } catch (error) {
      await held.close();
      throw error;
    }
  }

  get shown(): string {
    return this.#held.shown;
  }

  page(table: Table, after: Key | undefined): Promise<Page> {
    return this.#rows.page(table, after);
  }

  sequences(): Promise<ReadonlyMap<string, bigint>> {
    return this.#rows.sequences();
  }

  async origin(): Promise<Origin> {
    const [first] = await ask(this.#held, "select id from account order by key limit 1");
    // Each start of a service gives itself a name.
    const [owner] = await ask(this.#held, "select value from setting where name = 'service'");
    const sequences = [...(await this.sequences())].map(([name, highest]) => `${name} ${highest}`);
    return { service: first?.text() ?? "", state: `database ${owner?.text()}, ${sequences.join(", ")}` };
  }

  async bytes(): Promise<number> {
    const [row] = await ask(this.#held, "select pg_database_size(current_database())");
    return row?.int() ?? 0;
  }

  async keyIds(): Promise<readonly string[]> {
    const rows = await ask(this.#held, "select distinct value from setting where name in ('sealedBy', 'sealingBy')");
    return rows.map((row) => row.text() ?? "");
  }

  close(): Promise<void> {
    return this.#held.close();
  }
}
