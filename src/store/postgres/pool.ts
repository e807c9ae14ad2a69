import { once } from "node:events";
import pg from "pg";
import type { Log } from "../../ports/log.ts";
import { durable } from "./durable.ts";
import { endsWhenCutOff } from "./ending.ts";
import { standbyWait } from "./errors.ts";
import { join, type Run } from "./run.ts";
import { textOf } from "./text.ts";
import { noTransactionLimit, probeMs, type Times } from "./times.ts";
import type { ServerAddress } from "./url.ts";

/** What the network may add to a statement's time before the connection counts as lost, ms. */
const lateMs = 5000;
/** An idle connection is closed after this time, ms. */
const unusedMs = 300_000;

/** Parameters that every session must have, whatever the role or the database sets. */
const session = [
  "set_config('default_transaction_isolation', 'read committed', false)",
  "set_config('default_transaction_deferrable', 'off', false)",
  "set_config('client_min_messages', 'warning', false)",
  "set_config('extra_float_digits', '1', false)",
  "set_config('idle_session_timeout', '0', false)",
  "set_config('jit', 'off', false)",
  "set_config('standard_conforming_strings', 'on', false)",
  endsWhenCutOff,
  durable,
];

/**
 * Times in the form of parameters. Who may take long is limited in its waits for locks only: a session that holds one,
 * such as that of a backup, may do so for hours.
 */
function limitsOf({ times: { statement, idle }, mayTakeLong }: PoolParts): readonly string[] {
  return [
    `set_config('statement_timeout', '${mayTakeLong ? 0 : statement}', false)`,
    `set_config('lock_timeout', '${statement}', false)`,
    `set_config('idle_in_transaction_session_timeout', '${mayTakeLong ? 0 : idle}', false)`,
    noTransactionLimit,
  ];
}

/** Connections to a server, made when they are needed. */
export class ServerPool extends pg.Pool {
  /** All that are not closed yet, also those that the pool has forgotten. */
  readonly #open: Set<pg.Client>;
  /** Whose last commit waited for a standby and was cut off. */
  readonly #cutOff = new WeakSet<pg.ClientBase>();
  /** Changes that were not answered, or whose wait was cut off. If they are done, a standby may lack them. */
  #doubts = 0;
  /** How many of these it has, or will never have. */
  #settled = 0;
  #settling: Promise<void> | undefined;

  constructor(config: pg.PoolConfig, log: Pick<Log, "warn">) {
    const open = new Set<pg.Client>();
    class Known extends pg.Client {
      constructor(own?: pg.ClientConfig) {
        super(own);
        open.add(this);
        this.once("end", () => open.delete(this));
      }
    }
    super({ ...config, Client: Known });
    this.#open = open;
    // What breaks while nobody uses it. The next one who needs a connection gets another.
    this.on("error", (error) => log.warn({ error: error.message }, "a connection to the database was lost"));
    this.on("connect", (client) => {
      // And what breaks between two statements of a transaction: the next one tells.
      client.on("error", () => {});
      client.on("notice", ({ routine }) => {
        if (routine === standbyWait) this.#cutOff.add(client);
      });
    });
  }

  /** Whether a standby may lack what this connection has committed. */
  wasCutOff(client: pg.ClientBase): boolean {
    return this.#cutOff.has(client);
  }

  /** A change may be done and not be on the standby. */
  doubt(): void {
    this.#doubts++;
  }

  /**
   * Resolves when a standby has all changes that were in doubt until now, as far as they are done. `commit` makes a
   * commit of its own, which waits for that.
   */
  async settled(commit: () => Promise<unknown>): Promise<void> {
    // Whoever comes meanwhile waits with the first one, and makes another commit if there is a later doubt.
    for (const doubts = this.#doubts; this.#settled < doubts; await this.#settling)
      this.#settling ??= this.#settle(commit).finally(() => {
        this.#settling = undefined;
      });
  }

  async #settle(commit: () => Promise<unknown>): Promise<void> {
    const doubts = this.#doubts;
    await commit();
    this.#settled = doubts;
  }

  /**
   * Works with a connection of its own. One with which something failed is closed, since it may be broken or have a
   * transaction open.
   */
  async use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.connect();
    let failure: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.release(failure);
    }
  }

  /** Breaks all connections. */
  break(): void {
    for (const client of this.#open) client.connection.stream.destroy();
  }

  /**
   * Ends all connections, and breaks those that the server does not let go of in time: a socket that is open keeps the
   * process from ending.
   */
  async endIn(ms: number): Promise<void> {
    const late = setTimeout(() => this.break(), ms);
    const ended = [...this.#open].map((client) => once(client, "end"));
    await this.end();
    await Promise.all(ended);
    clearTimeout(late);
  }
}

/** What a pool is made of. */
export interface PoolParts {
  readonly address: ServerAddress;
  readonly connections: number;
  readonly times: Times;
  /** Statements may take as long as they need, for migrations. */
  readonly mayTakeLong?: boolean;
  readonly log: Pick<Log, "warn">;
  /** The run of the service that it is for, which must still be on its server: see `join`. Undefined: whoever asks. */
  readonly run?: Run;
}

/** Makes the pool of a server. */
export function makePool(parts: PoolParts): ServerPool {
  const { address, connections, times, mayTakeLong = false, log, run } = parts;
  return new ServerPool(
    {
      ...address,
      ...(!mayTakeLong && { query_timeout: times.statement + Math.min(lateMs, times.statement) }),
      max: connections,
      connectionTimeoutMillis: times.connect,
      idleTimeoutMillis: unusedMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: probeMs,
      types,
      onConnect: async (client) => {
        try {
          // Not with the startup message, of which poolers refuse all parameters that they don't know.
          await client.query(`select ${[...session, ...limitsOf(parts)].join(", ")}`);
          if (run !== undefined) await join(client, run);
        } catch (error) {
          // The pool waits until it is closed, and a server that hangs does not do that.
          if (client instanceof pg.Client) client.connection.stream.destroy();
          throw error;
        }
      },
    },
    log,
  );
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
