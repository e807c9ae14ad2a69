import { EngineError } from "../locations/failures.ts";
import { databaseOfWorker } from "../workers/serve.ts";
import { addressOf, type Order } from "./orders.ts";
import type { Statement } from "./wire/messages.ts";
import { Session, step } from "./wire/session.ts";

/** What the thread was started with. */
export function orderOfWorker(): Order {
  return JSON.parse(databaseOfWorker());
}

/** What all sessions of the threads have. Every statement finds its rows by keys, so no plan need be made anew for what it is asked, and none may read whole tables. */
const common = {
  client_min_messages: "error",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_seqscan: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan",
  // Rows of a batch are gathered before they are written.
  work_mem: "32MB",
};

/** A session that a thread has for itself. It is opened when it is first needed, and again when it was lost. */
export class Connection {
  readonly #open: () => Promise<Session>;
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  #closed = false;

  constructor(open: () => Promise<Session>) {
    this.#open = open;
  }

  async session(): Promise<Session> {
    // Of a call that is under way still: a session that is opened now would be ended by nobody, and its thread with it.
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
export function readingConnection(name: string): Connection {
  const order = orderOfWorker();
  return new Connection(() => openReadingSession(order, name));
}

const isStandby: Statement = { name: "is_standby", sql: "select pg_is_in_recovery()::int::bigint" };

/** Opens a session that reads. What is sent together is of one moment: a transaction at this level sees what was committed when it began. */
export async function openReadingSession(order: Order, name: string): Promise<Session> {
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
  // It would lack what was committed just now: a name may lead to several servers.
  if (answer?.rows[0]?.int() === 0) return session;
  session.destroy("it leads to a standby");
  throw new EngineError({ message: "the address of the database leads to a standby", trouble: "down", code: "25006" });
}

/** Parameters of the session that writes. No time limits its statements at the server: a commit that waits for a standby would end as done though the standby does not have it. */
export const writingSettings = {
  ...common,
  default_transaction_isolation: "read committed",
  default_transaction_read_only: "off",
  default_transaction_deferrable: "off",
  statement_timeout: "0",
  // A server that is cut off from us ends the session, so that its lock does not outlive us for long.
  tcp_keepalives_idle: "10",
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
};
