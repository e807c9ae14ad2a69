import { DatabaseSync } from "node:sqlite";
import type { DamagedChunk, SealAnswer, SealRequest } from "../locations/calls.ts";
import type { ChunkHead, ChunkRow } from "../locations/chunks.ts";
import { damagedChunk, Packing, planSeal } from "../locations/packing.ts";
import { databaseOfWorker, plain, serve } from "../workers/serve.ts";
import { ChunkRows } from "./chunk-rows.ts";
import { damageOf, failureOf } from "./engine-errors.ts";
import type { SqlitePackerCalls } from "./messages.ts";

/** Reading never waits for the writer (WAL); only a log that is being recovered makes it wait, ms. */
const busyTimeoutMs = 1000;

/** The worker that packs blocks, so that neither commits nor readers wait for packing. It only reads the database; the writer stores the blocks. */
class Packer {
  readonly database = new DatabaseSync(databaseOfWorker(), { readOnly: true, timeout: busyTimeoutMs });
  readonly #rows = new ChunkRows(this.database);
  readonly #packing = new Packing();

  constructor() {
    // Small, because each chunk is read once.
    this.database.exec("pragma cache_size = -4000");
  }

  /** Packs what is to be sealed of some chunks. Returns undefined when one of the chunks is gone. */
  seal(request: SealRequest): SealAnswer | undefined {
    const unread: DamagedChunk[] = [];
    // Only the reading is in the transaction: packing takes long, and the log grows while a transaction is open.
    const read = this.#rows.asOfNow(() => {
      const found = this.#rows.heads(request.device, request.seqs, request.until);
      if (found === undefined) return undefined;
      const plan = planSeal(found, request);
      return { plan, runs: plan.runs.map((run) => this.#readAll(run, unread)) };
    });
    return read && this.#packing.pack(request, read.plan, read.runs, unread);
  }

  #readAll(run: readonly ChunkHead[], unread: DamagedChunk[]): readonly ChunkRow[] {
    return run.flatMap((head) => {
      try {
        return [this.#rows.read(head)];
      } catch (error) {
        const problem = damageOf(error);
        if (problem === undefined) throw error;
        unread.push(damagedChunk(head, problem));
        return [];
      }
    });
  }
}

let opened: Packer | undefined;
/** Opened by a call, so that a failure to open is that call's answer. */
function packer(): Packer {
  opened ??= new Packer();
  return opened;
}

serve<SqlitePackerCalls>(
  {
    seal: (request) => {
      const answer = packer().seal(request);
      return { answer, transfer: answer?.blocks.map(({ data }) => data.buffer) ?? [] };
    },
    close: () => {
      opened?.database.close();
      return plain(null);
    },
  },
  failureOf,
);
