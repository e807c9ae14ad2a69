import type pg from "pg";
import type { Log } from "../../ports/log.ts";
import { checkNumber, movingNumber } from "../migrations/migrations.ts";
import { openPostgresPositions, type PostgresPositions } from "../positions/postgres/open.ts";
import { checkedAddress } from "../postgres/checks.ts";
import { storeError } from "../postgres/errors.ts";
import { identified, openPostgresStore } from "../postgres/open-store.ts";
import { makePool, type ServerPool } from "../postgres/pool.ts";
import { processTables } from "../postgres/process-tables.ts";
import { ServiceLock } from "../postgres/service-lock.ts";
import { storedText } from "../postgres/text.ts";
import { usualTimes } from "../postgres/times.ts";
import { sealingSettings } from "../secrets/unlock.ts";
import { endedMove, MoveRefused } from "./refused.ts";
import { type Cell, quoted, type Row, type Side } from "./side.ts";
import { type MovedTable, movedTables } from "./tables.ts";

/** Tables of positions, processes and migrations, which go with the others where a move begins anew. */
const otherTables = ["position", "position_pending", "position_kept", ...processTables, "migration"];
/** PostgreSQL takes no more parameters in one statement. */
const mostParameters = 60_000;

/** A PostgreSQL database. */
export class PostgresSide implements Side {
  readonly shown: string;
  readonly positions: PostgresPositions;
  readonly #pool: ServerPool;
  readonly #lock: ServiceLock;
  #client: pg.PoolClient | undefined;

  private constructor(shown: string, lock: ServiceLock, pool: ServerPool, positions: PostgresPositions) {
    this.shown = shown;
    this.#lock = lock;
    this.#pool = pool;
    this.positions = positions;
  }

  /** Locks a database that a service uses otherwise. */
  static async openSource(url: string, log: Log): Promise<PostgresSide> {
    const { shown, pool, lock } = await connect(url, log);
    try {
      const newest = await newestMigration(pool);
      if (newest === undefined)
        throw new MoveRefused(`${shown} holds no data of a service`, "Name the service's database by --from.");
      checkNumber(newest);
    } finally {
      await pool.end();
      await lock.release();
    }
    return PostgresSide.#open(url, log);
  }

  /** Makes the tables where there is no data. What an unfinished move left is dropped first. */
  static async openTarget(url: string, log: Log): Promise<PostgresSide> {
    const { shown, pool, lock } = await connect(url, log, true);
    try {
      const newest = await newestMigration(pool);
      if (newest !== undefined && newest !== movingNumber) throw holdsData(shown);
      if (newest === movingNumber) await dropAll(pool);
    } finally {
      await pool.end();
      await lock.release();
    }
    await (await openPostgresStore(url, { log, forMove: true })).close();
    return PostgresSide.#open(url, log, true);
  }

  static async #open(url: string, log: Log, isTarget = false): Promise<PostgresSide> {
    const { address, shown, pool, lock } = await connect(url, log, isTarget);
    try {
      // Another move may have come in between.
      if (isTarget && (await newestMigration(pool)) !== movingNumber) throw holdsData(shown);
      const positions = await openPostgresPositions(address, { log });
      return new PostgresSide(shown, lock, pool, positions);
    } catch (error) {
      await pool.end();
      await lock.release();
      throw error;
    }
  }

  async #ask(text: string, values: readonly Cell[] = []): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const query = { text, values: [...values] };
    try {
      const { rows } = await (this.#client?.query(query) ?? this.#pool.query(query));
      return rows;
    } catch (error) {
      throw storeError(error, "asked");
    }
  }

  async page({ name, key }: MovedTable, after: Row | undefined, limit: number): Promise<readonly Row[]> {
    const columns = key.map(quoted).join(", ");
    const behind = after === undefined ? "" : `where (${columns}) > (${key.map((_, at) => `$${at + 1}`).join(", ")})`;
    const rows = await this.#ask(
      `select * from ${quoted(name)} ${behind} order by ${columns} limit ${limit}`,
      after === undefined ? [] : key.map((column) => storedCell(after[column] ?? null)),
    );
    return rows.map((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, cellOf(value)])));
  }

  async count({ name }: MovedTable): Promise<number> {
    const [row] = await this.#ask(`select count(*) as n from ${quoted(name)}`);
    return Number(row?.n);
  }

  async together(work: () => Promise<void>): Promise<void> {
    try {
      await this.#pool.use(async (client) => {
        this.#client = client;
        await this.#ask("begin");
        await work();
        await this.#ask("commit");
      });
    } finally {
      this.#client = undefined;
    }
  }

  async clear({ name }: MovedTable): Promise<void> {
    await this.#ask(`delete from ${quoted(name)}`);
  }

  async put({ name }: MovedTable, rows: readonly Row[]): Promise<void> {
    const columns = Object.keys(rows[0] ?? {});
    const most = Math.max(1, Math.floor(mostParameters / Math.max(1, columns.length)));
    for (let at = 0; at < rows.length; at += most) {
      const some = rows.slice(at, at + most);
      let mark = 0;
      const values = some.map(() => `(${columns.map(() => `$${++mark}`).join(", ")})`).join(", ");
      await this.#ask(
        `insert into ${quoted(name)} (${columns.map(quoted).join(", ")}) overriding system value values ${values}`,
        some.flatMap((row) => columns.map((column) => storedCell(row[column] ?? null))),
      );
    }
  }

  async highest({ name, key: [key] }: MovedTable): Promise<number> {
    const [sequence] = await this.#ask("select pg_get_serial_sequence($1, $2) as name", [quoted(name), key]);
    const [row] = await this.#ask(
      `select (last_value - case when is_called then 0 else 1 end) as highest from ${String(sequence?.name)}`,
    );
    return Number(row?.highest ?? 0);
  }

  async goOnBehind({ name, key: [key] }: MovedTable, highest: number): Promise<void> {
    const next = `setval(pg_get_serial_sequence($1, $2), ${Math.max(1, highest)}, ${highest > 0})`;
    await this.#ask(`select ${next}`, [quoted(name), key]);
  }

  async keyIds(): Promise<readonly string[]> {
    const marks = sealingSettings.map((_, at) => `$${at + 1}`).join(", ");
    const rows = await this.#ask(`select distinct value from setting where name in (${marks}) order by value`, [
      ...sealingSettings,
    ]);
    return rows.map(({ value }) => String(value));
  }

  async close(isWhole: boolean): Promise<void> {
    try {
      await this.positions.close();
      if (isWhole) await this.#ask("delete from migration where number = $1", [movingNumber]);
    } finally {
      await this.#pool.end();
      await this.#lock.release();
    }
  }
}

/** Connects to a database, and locks it. */
async function connect(url: string, log: Log, mayBeHalfMoved = false) {
  const address = await checkedAddress(url, usualTimes, mayBeHalfMoved);
  const run = await identified(address, usualTimes, log);
  const lock = await ServiceLock.take({ address, times: usualTimes, log, run, how: "alone" });
  const pool = makePool({ address, connections: 2, times: usualTimes, log, mayTakeLong: true });
  return { address, shown: `the database ${address.database} at ${address.host}`, pool, lock };
}

/** The pool decodes texts, and encodes none. */
function storedCell(cell: Cell): Cell {
  return typeof cell === "string" ? storedText(cell) : cell;
}

function holdsData(shown: string): MoveRefused {
  return new MoveRefused(`${shown} holds data already`, `Choose an empty database by --to. ${endedMove}`);
}

/** Undefined: the database has no tables of a service. */
async function newestMigration(pool: pg.Pool): Promise<number | undefined> {
  try {
    const found = "select from pg_class where relname = 'migration' and relnamespace = current_schema()::regnamespace";
    if ((await pool.query(found)).rowCount === 0) return undefined;
    const { rows } = await pool.query("select max(number) as number from migration");
    return Number(rows[0]?.number);
  } catch (error) {
    throw storeError(error, "asked");
  }
}

/** Drops all tables of a service, or none: what is left of them would be taken for another program's. */
async function dropAll(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select set_config('search_path', quote_ident(current_schema()), true)");
    for (const name of [...movedTables.map((table) => table.name), ...otherTables])
      await client.query(`drop table if exists ${quoted(name)} cascade`);
    await client.query("drop sequence if exists position_commit");
    await client.query("commit");
  } catch (error) {
    throw storeError(error, "asked");
  } finally {
    // Where that failed, the transaction ends with its connection.
    client.release(true);
  }
}

function cellOf(value: unknown): Cell {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value === null || typeof value === "number" || typeof value === "string" || value instanceof Uint8Array)
    return value;
  throw new TypeError(`no column holds a ${typeof value}`);
}
