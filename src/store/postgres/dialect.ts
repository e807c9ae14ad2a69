import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type DialectAdapter,
  type Driver,
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type QueryCompiler,
  type QueryResult,
  replaceWithNoncontingentExpression,
  SelectQueryNode,
  type TransactionBuilder,
} from "kysely";
import type { QueryResult as Answer, PoolClient } from "pg";
import { StoreUnavailable } from "../../ports/store.ts";
import type { RunTogether } from "../rows/statement-groups.ts";
import type { Schema } from "../schema.ts";
import { again } from "./again.ts";
import { BytewiseCompiler } from "./compiler.ts";
import { touch } from "./durable.ts";
import { hasMetAnother, isWorthAnotherTry, rolledBack, type Stage, storeError, withoutStandby } from "./errors.ts";
import { Places } from "./places.ts";
import type { ServerPool } from "./pool.ts";
import { storedText } from "./text.ts";

/**
 * Kysely over a pool. After a conflict with others a transaction is run again from its beginning, so its callback must
 * have no effects outside the database.
 */
export class PostgresTables extends Kysely<Schema> {
  /** `waitMs`: how long to wait for a connection while others have all of them. */
  constructor(pool: ServerPool, waitMs: number) {
    super({
      dialect: new PooledDialect(pool, waitMs),
      // PostgreSQL refuses an empty list after `in`.
      plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
    });
  }

  override transaction(): TransactionBuilder<Schema> {
    const builder = super.transaction();
    const once = builder.execute.bind(builder);
    const execute: typeof once = (work) => again(() => once(work), isWorthAnotherTry);
    return Object.defineProperty(builder, "execute", { value: execute });
  }
}

/** Runs statements in one transaction. */
export function runTogether(database: PostgresTables): RunTogether {
  return (statements) =>
    database.transaction().execute(async (transaction) => {
      const changed: number[] = [];
      for (const statement of statements) {
        const { numAffectedRows } = await transaction.executeQuery(statement);
        changed.push(Number(numAffectedRows ?? 0n));
      }
      return changed;
    });
}

class PooledDialect implements Dialect {
  readonly #pool: ServerPool;
  readonly #waitMs: number;

  constructor(pool: ServerPool, waitMs: number) {
    this.#pool = pool;
    this.#waitMs = waitMs;
  }

  createDriver(): Driver {
    return new PooledDriver(this.#pool, this.#waitMs);
  }

  createQueryCompiler(): QueryCompiler {
    return new BytewiseCompiler();
  }

  createAdapter(): DialectAdapter {
    return new PostgresAdapter();
  }

  createIntrospector(database: Kysely<unknown>): PostgresIntrospector {
    return new PostgresIntrospector(database);
  }
}

/** How long the server may take to close connections that were ended, ms. */
const endMs = 5000;

/**
 * In place of Kysely's own driver: it knows which failures leave it open whether a call was done, and gives no
 * connection back that may be broken.
 */
class PooledDriver implements Driver {
  readonly #pool: ServerPool;
  /** The pool's own time limit is for connecting. Callers who wait for others may wait longer, so they wait here. */
  readonly #places: Places;
  readonly #taken = new WeakMap<DatabaseConnection, PooledConnection>();

  constructor(pool: ServerPool, waitMs: number) {
    this.#pool = pool;
    this.#places = new Places(pool.options.max, waitMs);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#places.take();
    try {
      const connection = new PooledConnection(await this.#pool.connect(), this.#pool);
      this.#taken.set(connection, connection);
      return connection;
    } catch (error) {
      this.#places.free();
      throw storeError(error, "asked");
    }
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#taken.get(connection)?.begin();
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#taken.get(connection)?.commit();
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#taken.get(connection)?.rollback();
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#taken.get(connection)?.release();
    this.#places.free();
  }

  async destroy(): Promise<void> {
    await this.#pool.endIn(endMs);
  }
}

/** Commands that tell how many rows they changed. */
const writes: ReadonlySet<string> = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

class PooledConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #pool: ServerPool;
  #inTransaction = false;
  /**
   * After a failure the connection is closed, not given back to the pool: it may be broken, or lead to a server that no
   * longer takes writes.
   */
  #isSuspect = false;

  constructor(client: PoolClient, pool: ServerPool) {
    this.#client = client;
    this.#pool = pool;
  }

  async begin(): Promise<void> {
    await this.#ask("begin isolation level read committed read write", [], "asked");
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    const { command } = await this.#ask("commit", [], "sent");
    if (command === "ROLLBACK") throw rolledBack();
    await this.#settle();
  }

  /**
   * A change that found itself done wrote nothing, so its own commit did not wait for a standby. Whatever fails here,
   * the change itself is done.
   */
  async #settle(): Promise<void> {
    try {
      await this.#pool.settled(() => this.#ask(touch, [], "sent"));
    } catch {
      throw withoutStandby();
    }
  }

  /** Never fails: a transaction that can't be rolled back ends with its connection. */
  async rollback(): Promise<void> {
    if (this.#isSuspect) return;
    try {
      await this.#ask("rollback", [], "asked");
    } catch {
      this.#isSuspect = true;
    }
  }

  release(): void {
    this.#client.release(this.#isSuspect);
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    const values = parameters.map(stored);
    const changes = !this.#inTransaction && !SelectQueryNode.is(query);
    const ask = () => this.#ask(sql, values, changes ? "sent" : "asked");
    const { command, rowCount, rows } = await (this.#inTransaction ? ask() : again(ask, hasMetAnother));
    if (changes) await this.#settle();
    // The query's own type says what its rows are; Kysely has no other way to be told.
    const found = rows as R[];
    return writes.has(command) ? { rows: found, numAffectedRows: BigInt(rowCount ?? 0) } : { rows: found };
  }

  // biome-ignore lint/correctness/useYield: rows of these tables are few, so nothing streams them
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new TypeError("row tables are not streamed");
  }

  async #ask(text: string, values: readonly unknown[], stage: Stage): Promise<Answer> {
    try {
      const answer = await this.#client.query({ text, values: [...values] });
      if (this.#pool.wasCutOff(this.#client)) throw withoutStandby();
      return answer;
    } catch (error) {
      const told = storeError(error, stage);
      if (told instanceof StoreUnavailable && told.trouble === "down") this.#isSuspect = true;
      if (told instanceof StoreUnavailable && told.mayBeDone) this.#pool.doubt();
      throw told;
    }
  }
}

function stored(value: unknown): string | number | bigint | Uint8Array | null {
  if (typeof value === "string") return storedText(value);
  if (value === null || typeof value === "number" || typeof value === "bigint") return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`no column holds a ${typeof value}`);
}
