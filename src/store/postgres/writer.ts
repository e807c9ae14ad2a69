import { Mutex } from "../locations/mutex.ts";
import { type Handed, plain, serve } from "../workers/serve.ts";
import { writeBatch } from "./batch-writer.ts";
import { Connection, orderOfWorker } from "./connection.ts";
import { touch } from "./durable.ts";
import type { PostgresWriterCalls } from "./messages.ts";
import { statements } from "./statements.ts";
import { drop, forget, purge, swap } from "./swap.ts";
import { callFailure } from "./thread-errors.ts";
import { inTransaction } from "./transaction.ts";
import type { Statement } from "./wire/messages.ts";
import { type Session, step } from "./wire/session.ts";
import { openWritingSession } from "./writing-session.ts";

/*
 * The worker that writes positions, through one session. It answers when the data is on the server's disk (synchronous_commit).
 */

const touchSetting: Statement = { name: "touch", sql: touch };
/** Always rolled back. The limit leaves out damaged rows, whose numbers may be too large to be counted up. */
const tryAppend: Statement = {
  name: "try_append",
  sql: "insert into tail select coalesce(max(seq), 0) + 1, 0, 0, 0, 0, '' from tail where seq < 1::bigint << 52",
};

const order = orderOfWorker();
/** Whether the next session makes this service the one that writes. */
let takes = false;
const connection = new Connection(() => openWritingSession(order, takes));
const turns = new Mutex();

/** Runs `work` with the session when no earlier call is under way. */
function standing<T>(work: (session: Session) => Promise<T>): Promise<T> {
  return turns.run(async () => work(await connection.session()));
}

async function told<T>(work: (session: Session) => Promise<T>): Promise<Handed<T>> {
  return plain(await standing(work));
}

serve<PostgresWriterCalls>(
  {
    take: async () => {
      takes = true;
      try {
        return await told(async () => null);
      } finally {
        takes = false;
      }
    },
    // If the session was lost unnoticed, this fails, and opening the next session waits until the server has ended the lost one.
    stand: () =>
      told(async (session) => {
        await session.run(step(statements.nothing));
        return null;
      }),
    append: async (request) => ({
      answer: await standing((session) => writeBatch(session, request)),
      transfer: [request.buffer],
    }),
    swap: (request) => told((session) => swap(session, request)),
    drop: (request) => told((session) => drop(session, request)),
    forget: ({ device, seq }) => told((session) => forget(session, device, seq)),
    purge: (seqs) =>
      told(async (session) => {
        await purge(session, seqs);
        return null;
      }),
    check: () =>
      told((session) =>
        inTransaction(session, async ({ begin, commit }) => {
          await begin(step(touchSetting));
          await commit();
          await session.run(step(statements.begin), step(tryAppend), step(statements.rollback));
          return null;
        }),
      ),
    close: async () => {
      await connection.close();
      return plain(null);
    },
  },
  callFailure,
);
