import type { DeviceKey } from "../../model/device.ts";
import type { DeletedPositions, OldPositions } from "../../ports/retention.ts";
import type { DamagedChunk } from "./calls.ts";
import { type DeviceChunks, nothingOld, type Old } from "./device-chunks.ts";
import type { ReplacingParts } from "./device-sealing.ts";
import { deleteSpent } from "./spent-tail.ts";

/** The most chunks of one step: some milliseconds of the writer, so that commits go on in between. */
const stepRows = 256;

/** What deleting old chunks works with. */
export interface OldChunksParts extends ReplacingParts {
  /** Logs a damaged chunk. */
  tellDamage(device: DeviceKey, chunk: DamagedChunk): void;
}

/** What is wrong with a chunk whose row does not match its checksum. */
const damagedRow = "its row does not match its checksum, so nobody knows how old it is";

const nothingDeleted: DeletedPositions = { positions: 0, more: false };

/**
 * Finds and deletes chunks all of whose records are old: rows of the tail, and blocks. A chunk that also has newer records stays whole.
 *
 * Of the wholly old chunks, the one that ends last stays, because a report right after it goes on from its totals. The chunk with the device's highest row number stays, too: a state
 * says up to which row number it includes the device's rows, and the next start must not give such a number to a new row. A damaged chunk stays, whatever its times seem to be.
 */
export class OldChunks {
  readonly #parts: OldChunksParts;
  /** Row numbers of chunks that were found damaged. */
  readonly #damaged = new Set<number>();

  constructor(parts: OldChunksParts) {
    this.#parts = parts;
  }

  /** See `LocationStore.oldPositions`. */
  find(device: DeviceKey, before: number): OldPositions {
    const chunks = this.#parts.index.get(device);
    return chunks === undefined ? nothingOld : chunks.old(before, 0, this.#damaged).positions;
  }

  /** See `LocationStore.deleteOld`. */
  async delete(device: DeviceKey, before: number): Promise<DeletedPositions> {
    const { turns, index, writer } = this.#parts;
    const deleted = await turns.run(() => this.#delete(device, before));
    // Rows of the tail that are in the deleted blocks. A turn for each step, because there may be many.
    if (deleted.positions > 0)
      await deleteSpent(index.spent, device, (rows) => turns.run(() => writer.call("purge", rows)));
    return deleted;
  }

  async #delete(device: DeviceKey, before: number): Promise<DeletedPositions> {
    await this.#parts.settle();
    const { index } = this.#parts;
    const chunks = index.get(device);
    if (chunks === undefined) return nothingDeleted;
    let old = chunks.old(before, stepRows, this.#damaged);
    if (old.seqs.length === 0) return nothingDeleted;
    // The sealer packs some of them, and would find them gone.
    if (chunks.sealing) return { positions: 0, more: true };
    // Before its rows go: a start after a crash makes the state from them.
    await this.#parts.writeState(device);
    while (old.seqs.length > 0 && !(await this.#drop(device, chunks, old)))
      old = chunks.old(before, stepRows, this.#damaged);
    const { seqs, count, positions } = old;
    index.replace(device, chunks, new Set(seqs), []);
    chunks.left = {
      chunks: Math.min(chunks.left.chunks, chunks.tail.chunks),
      records: Math.min(chunks.left.records, chunks.tail.records),
      bytes: Math.min(chunks.left.bytes, chunks.tail.bytes),
    };
    return { positions: count, more: positions.count > count };
  }

  /** Returns false when nothing was deleted because some chunks are damaged. Later steps leave these out. */
  async #drop(device: DeviceKey, chunks: DeviceChunks, { seqs, count, stays }: Old): Promise<boolean> {
    try {
      const { done, damaged } = await this.#parts.writer.call("drop", { device, seqs, count, stays });
      for (const seq of damaged) {
        this.#damaged.add(seq);
        const chunk = chunks.find(seq);
        if (chunk !== undefined) this.#parts.tellDamage(device, { ...chunk, problem: damagedRow });
      }
      if (!done && damaged.length === 0) throw new Error(`chunks of device ${device} are missing`);
      return done;
    } catch (error) {
      this.#parts.doubt(device, seqs);
      throw error;
    }
  }
}
