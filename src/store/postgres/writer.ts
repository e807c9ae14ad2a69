import { EngineError } from "../locations/failures.ts";
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

/** SQLSTATE of a full disk. */
const diskFull = "53100";
/** Sorts more than it may keep in memory: some megabytes go to the disk, and are deleted at once. */
const tryDisk: Statement = {
  name: "try_disk",
  sql: "select count(distinct md5(n::text)) from generate_series(1, 50000) as n",
};
const littleMemory: Statement = { name: "little_memory", sql: "select set_config('work_mem', '64kB', true)" };

const order = orderOfWorker();
/** Whether something found the disk full, and no check since found room. */
let isFull = false;
/** Whether the next session makes this service the one that writes. */
let takes = false;
const connection = new Connection(() => openWritingSession(order, takes));
const turns = new Mutex();

/** Runs `work` with the session when no earlier call is under way. */
function standing<T>(work: (session: Session) => Promise<T>): Promise<T> {
  return turns.run(async () => {
    try {
      return await work(await connection.session());
    } catch (error) {
      if (error instanceof EngineError && error.code === diskFull) isFull = true;
      throw error;
    }
  });
}

/** Tries whether positions could be written. A small row finds room on a full disk, too, in a page that has some. So once the disk was full, much is written. */
async function check(session: Session): Promise<null> {
  await inTransaction(session, async ({ begin, commit, rollback }) => {
    await begin(step(touchSetting));
    await commit();
    await begin(step(tryAppend), ...(isFull ? [step(littleMemory), step(tryDisk)] : []));
    await rollback();
  });
  isFull = false;
  return null;
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
    // Sealed rows are deleted at once, so that none is spent.
    trim: async () => plain(0),
    forget: ({ device, seq }) => told((session) => forget(session, device, seq)),
    purge: (seqs) =>
      told(async (session) => {
        await purge(session, seqs);
        return null;
      }),
    check: () => told(check),
    close: async () => {
      await connection.close();
      return plain(null);
    },
  },
  callFailure,
);
