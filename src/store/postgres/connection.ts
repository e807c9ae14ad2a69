import { EngineError } from "../locations/failures.ts";
import { databaseOfWorker } from "../workers/serve.ts";
import { cutOffTimes } from "./ending.ts";
import { addressOf, type Order } from "./orders.ts";
import type { Times } from "./times.ts";
import type { Statement } from "./wire/messages.ts";
import { Session, step } from "./wire/session.ts";

/** What the thread was started with. */
export function orderOfWorker(): Order {
  return JSON.parse(databaseOfWorker());
}

/** Parameters of all sessions of the threads. Every statement finds its rows by keys, so one plan fits all values, and no plan may read whole tables. */
const common = {
  // The server only warns of a commit that a synchronous standby does not have.
  client_min_messages: "warning",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_seqscan: "off",
  idle_session_timeout: "0",
  jit: "off",
  // Whoever asks waits no longer than the session's answer may take.
  lock_timeout: "0",
  plan_cache_mode: "force_generic_plan",
  // A statement gathers all rows of a batch before it writes them.
  work_mem: "32MB",
};

/** A thread's own session. It is opened when it is first needed, and opened anew after it was lost. */
export class Connection {
  readonly #open: () => Promise<Session>;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  #closed = false;

  constructor(open: () => Promise<Session>) {
    this.#open = open;
  }

  async session(): Promise<Session> {
    // A call may still be under way. A session that it opened now would never be ended, and would keep the thread alive.
    if (this.#closed) throw new EngineError({ message: "the connection was closed", trouble: "down", code: "08003" });
    if (this.#session !== undefined && !this.#session.isLost) return this.#session;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    this.#session = await this.#opening;
    return this.#session;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening?.catch(() => undefined);
    await this.#session?.end();
  }
}

/** A connection that only reads. */
export function readingConnection(order: Order, name: string): Connection {
  return new Connection(() => openReadingSession(order, name));
}

const isStandby: Statement = { name: "is_standby", sql: "select pg_is_in_recovery()::int::bigint" };

/** Opens a session that reads. Statements that are sent together read one snapshot (repeatable read). */
async function openReadingSession(order: Order, name: string): Promise<Session> {
  const { times } = order;
  const session = await Session.open({
    address: addressOf(order),
    times,
    name: `waybeam ${name} ${order.service}`,
    settings: {
      ...common,
      default_transaction_isolation: "repeatable read",
      default_transaction_read_only: "on",
      default_transaction_deferrable: "off",
      statement_timeout: String(times.statement),
      idle_in_transaction_session_timeout: String(times.idle),
    },
  });
  const [answer] = await session.run(step(isStandby)).catch((error: unknown) => {
    session.destroy("it can't be asked");
    throw error;
  });
  // A host name may lead to several servers, and a standby would lack what was committed just now.
  if (answer?.rows[0]?.int() === 0) return session;
  session.destroy("it leads to a standby");
  throw new EngineError({ message: "the address of the database leads to a standby", trouble: "down", code: "25006" });
}

/** Makes the parameters of the session that writes. It has no statement timeout: that would end a commit's wait for a standby, and the commit would count as done though the standby does not have it. */
export function writingSettings({ idle }: Times): Readonly<Record<string, string>> {
  return {
    ...common,
    default_transaction_isolation: "read committed",
    default_transaction_read_only: "off",
    default_transaction_deferrable: "off",
    statement_timeout: "0",
    idle_in_transaction_session_timeout: String(idle),
    ...cutOffTimes,
  };
}
