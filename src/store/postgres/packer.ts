import type { DamagedChunk, SealAnswer, SealRequest } from "../locations/calls.ts";
import type { ChunkHead, ChunkRow } from "../locations/chunks.ts";
import { Mutex } from "../locations/mutex.ts";
import { damagedChunk, Packing, planSeal } from "../locations/packing.ts";
import { plain, serve } from "../workers/serve.ts";
import { findHeads, readChunks } from "./chunk-rows.ts";
import { orderOfWorker, readingConnection } from "./connection.ts";
import type { PostgresPackerCalls } from "./messages.ts";
import { statements } from "./statements.ts";
import { callFailure, damageOf } from "./thread-errors.ts";
import type { Statement } from "./wire/messages.ts";
import { type Session, step } from "./wire/session.ts";

/** The worker that packs blocks, so that neither commits nor readers wait for packing. It only reads the database; the writer stores the blocks. */
class Packer {
  readonly connection = readingConnection(orderOfWorker(), "packer");
  readonly #packing = new Packing();
  readonly #turns = new Mutex();

  /** Packs what is to be sealed of some chunks. Returns undefined when one of the chunks is gone. */
  seal(request: SealRequest): Promise<SealAnswer | undefined> {
    return this.#turns.run(async () => {
      const unread: DamagedChunk[] = [];
      const session = await this.connection.session();
      const read = await this.#read(session, request, unread);
      return read && this.#packing.pack(request, read.plan, read.runs, unread);
    });
  }

  /** Reads everything in one snapshot. Packing takes long and comes after the transaction. */
  async #read(session: Session, request: SealRequest, unread: DamagedChunk[]) {
    const begun = async (...steps: Parameters<Session["run"]>) =>
      (await session.run(step(statements.begin), ...steps)).slice(1);
    try {
      const found = await findHeads(request, request.until, begun);
      if (found === undefined) return undefined;
      const plan = planSeal(found(), request);
      const read = await readAll(session, plan.runs.flat());
      return { plan, runs: plan.runs.map((run) => rowsOf(run, read, unread)) };
    } finally {
      if (!session.isLost) await session.run(step(statements.rollback));
    }
  }
}

/** Chunks with their bytes, or why they can't be read. */
type Read = ReadonlyMap<number, ChunkRow | string>;

const savepoint: Statement = { name: "savepoint", sql: "savepoint reading" };
const backToSavepoint: Statement = { name: "back", sql: "rollback to reading" };

async function readAll(session: Session, heads: readonly ChunkHead[]): Promise<Read> {
  try {
    return await readChunks(heads, async (...steps) => (await session.run(step(savepoint), ...steps)).slice(1));
  } catch (error) {
    const problem = damageOf(error);
    if (problem === undefined) throw error;
    await session.run(step(backToSavepoint));
    const [only] = heads;
    if (only !== undefined && heads.length === 1) return new Map([[only.seq, problem]]);
    // Halved until the damaged chunk is alone, so that all others are packed.
    const half = heads.length >> 1;
    const first = await readAll(session, heads.slice(0, half));
    return new Map([...first, ...(await readAll(session, heads.slice(half)))]);
  }
}

function rowsOf(run: readonly ChunkHead[], read: Read, unread: DamagedChunk[]): readonly ChunkRow[] {
  return run.flatMap((head) => {
    const row = read.get(head.seq) ?? "its bytes are missing";
    const problem = typeof row === "string" ? row : row.data.byteLength === 0 ? "its bytes are missing" : undefined;
    if (typeof row !== "string" && problem === undefined) return [row];
    unread.push(damagedChunk(head, problem ?? ""));
    return [];
  });
}

const packer = new Packer();

serve<PostgresPackerCalls>(
  {
    seal: async (request) => {
      const answer = await packer.seal(request);
      return { answer, transfer: answer?.blocks.map(({ data }) => data.buffer) ?? [] };
    },
    close: async () => {
      await packer.connection.close();
      return plain(null);
    },
  },
  callFailure,
);
