import pg from "pg";
import type { Log } from "../../ports/log.ts";
import { durable } from "./durable.ts";
import { textOf } from "./text.ts";
import type { ServerAddress } from "./url.ts";

/** How long things may take, ms. */
export interface Times {
  readonly connect: number;
  /** A statement with its waits for locks; also the wait for a free connection. Less than a request to the API may take. */
  readonly statement: number;
  /** An idle transaction, before the server ends it: a program that was cut off must not hold locks for ever. */
  readonly idle: number;
}

/** Everybody's times but those of some tests. */
export const usualTimes: Times = { connect: 5000, statement: 20_000, idle: 60_000 };

/** What the network may add to a statement's time before the connection counts as lost, ms. */
const lateMs = 5000;
/** A connection that was silent for this long is probed, so that a server that is cut off is noticed, and no firewall forgets the connection, ms. */
export const probeMs = 10_000;
/** An idle connection is closed after this time, ms. */
const unusedMs = 300_000;

/** Parameters that every session must have, whatever the role or the database sets. */
const session = `select
  set_config('default_transaction_isolation', 'read committed', false),
  set_config('default_transaction_deferrable', 'off', false),
  set_config('extra_float_digits', '1', false),
  set_config('jit', 'off', false),
  ${durable}`;

/** Connections to a server, made when they are needed. `times` undefined: statements may take as long as they need, for migrations. */
export function makePool(
  address: ServerAddress,
  connections: number,
  times: Times | undefined,
  log: Pick<Log, "warn">,
): pg.Pool {
  const limits = times && {
    statement_timeout: times.statement,
    lock_timeout: times.statement,
    idle_in_transaction_session_timeout: times.idle,
    query_timeout: times.statement + lateMs,
  };
  const pool = new pg.Pool({
    ...address,
    ...limits,
    max: connections,
    connectionTimeoutMillis: times?.connect ?? usualTimes.connect,
    idleTimeoutMillis: unusedMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeMs,
    types,
    onConnect: async (client) => {
      await client.query(session);
    },
  });
  // An idle connection broke. The next caller gets another.
  pool.on("error", (error) => log.warn({ error: error.message }, "a connection to the database was lost"));
  // A connection may break between two statements of a transaction. The next statement then fails; without a listener the process would.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

type Parser = (text: string) => unknown;

/** By the OID of the type (pg_type.dat). */
const parsers: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [16, (text) => text === "t"],
  [17, bytesOf],
  [20, numberOf],
  [21, Number],
  [23, Number],
  [700, Number],
  [701, Number],
  [1700, numberOf],
]);

const types: pg.CustomTypesConfig = {
  getTypeParser: (type: number) => parsers.get(type) ?? textOf,
};

/** Throws on a value that a JavaScript number can't hold. */
function numberOf(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) && Number.isInteger(value)) throw new RangeError(`the number ${text} is too large`);
  return value;
}

function bytesOf(text: string): Uint8Array {
  const bytes: unknown = pg.types.getTypeParser(17)(text);
  if (!Buffer.isBuffer(bytes)) throw new TypeError("bytes came in an unknown form");
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}
