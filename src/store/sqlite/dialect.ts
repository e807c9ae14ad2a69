import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  type QueryResult,
  SelectQueryNode,
  SqliteAdapter,
  SqliteIntrospector,
} from "kysely";
import { StoreUnavailable } from "../../ports/store.ts";
import type { RunTogether } from "../rows/statement-groups.ts";
import { LocklessCompiler } from "./compiler.ts";
import type { SqliteReaderCalls, SqliteWriterCalls, SqlRequest, SqlValue } from "./messages.ts";
import type { Mutex } from "./workers/mutex.ts";
import type { WorkerLink } from "./workers/worker-link.ts";

/** What the dialect works with: questions go to the reader, everything else to the writer, one at a time. */
export interface DialectParts {
  readonly writer: WorkerLink<SqliteWriterCalls>;
  readonly reader: WorkerLink<SqliteReaderCalls>;
  readonly turns: Mutex;
}

/** Kysely over the store's two workers. */
export class WorkerDialect implements Dialect {
  readonly #parts: DialectParts;

  constructor(parts: DialectParts) {
    this.#parts = parts;
  }

  createDriver(): Driver {
    return new WorkerDriver(this.#parts);
  }

  createQueryCompiler(): QueryCompiler {
    return new LocklessCompiler();
  }

  createAdapter(): DialectAdapter {
    return new WorkerAdapter();
  }

  createIntrospector(database: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(database);
  }
}

/** Reads run beside a write here, so Kysely need not queue them. */
class WorkerAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class WorkerDriver implements Driver {
  readonly #parts: DialectParts;
  readonly #open = new WeakMap<DatabaseConnection, WorkerConnection>();

  constructor(parts: DialectParts) {
    this.#parts = parts;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const connection = new WorkerConnection(this.#parts);
    this.#open.set(connection, connection);
    return connection;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await this.#open.get(connection)?.begin();
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.#open.get(connection)?.whole();
    await this.#parts.writer.call("commit", null);
  }

  async rollbackTransaction(): Promise<void> {
    await this.#parts.writer.call("rollback", null);
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    this.#open.get(connection)?.endTurn();
  }

  async destroy(): Promise<void> {}
}

class WorkerConnection implements DatabaseConnection {
  readonly #parts: DialectParts;
  /** Ends this connection's turn at the writer; there while a transaction is open. */
  #end: (() => void) | undefined;
  /** The worker in which the transaction was begun. */
  #generation = 0;

  constructor(parts: DialectParts) {
    this.#parts = parts;
  }

  async begin(): Promise<void> {
    this.#end = await this.#parts.turns.acquire();
    await this.#parts.writer.call("begin", null);
    this.#generation = this.#parts.writer.generation;
  }

  /** A transaction ends with the worker that it was begun in: the rest of it must not be done alone by the next one. */
  whole(): void {
    if (this.#parts.writer.generation !== this.#generation)
      throw new StoreUnavailable("the transaction was lost with its worker");
  }

  endTurn(): void {
    this.#end?.();
    this.#end = undefined;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const request = requestOf(query);
    const { writer, reader, turns } = this.#parts;
    if (this.#end !== undefined) this.whole();
    const { rows, changes } = await (this.#end !== undefined
      ? writer.call("sql", request)
      : SelectQueryNode.is(query.query)
        ? reader.call("sql", request)
        : turns.run(() => writer.call("sql", request)));
    // The query's own type says what its rows are; Kysely has no other way to be told.
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: rows of these tables are few, so nothing streams them
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new TypeError("row tables are not streamed");
  }
}

/** Runs statements in one transaction by one message to the writer, whose turn is no longer than its own work. */
export function runTogether({ writer, turns }: Pick<DialectParts, "writer" | "turns">): RunTogether {
  return async (statements) => {
    const requests = statements.map(requestOf);
    return turns.run(() => writer.call("together", requests));
  };
}

function requestOf({ sql, parameters }: CompiledQuery): SqlRequest {
  return { sql, parameters: parameters.map(sqlValue) };
}

function sqlValue(value: unknown): SqlValue {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "bigint")
    return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`no column holds a ${typeof value}`);
}
