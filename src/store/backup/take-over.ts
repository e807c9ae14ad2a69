import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { Pack } from "./packs.ts";
import type { LongWork } from "./refused.ts";

/** Blocks that one step compares. */
const step = 64;

/** CRC-32 of a block's bytes in the checksum of its row. Rows of older versions have 0. */
const sumOfBytes = "(coalesce(own.crc, 0) & 4294967295)";

/**
 * Takes over packs of an earlier backup, which is the database `earlier`: those of which each block is still there, with the same bytes. A row number alone says nothing: once an
 * older state was restored, the service gives the same row numbers again. `main` holds the blocks' rows of the new backup, and `live` is the database that is backed up.
 * Returns the packs that were taken over.
 */
export async function takeOver(
  database: DatabaseSync,
  packs: readonly Pack[],
  packBytes: number,
  work: LongWork,
): Promise<readonly Pack[]> {
  const comparison = new Comparison(database);
  const same: Pack[] = [];
  let blocks = Number(database.prepare("select count(*) as n from main.block").get()?.n);
  for (const [index, pack] of packs.entries()) {
    work.signal.throwIfAborted();
    work.progress(() => `comparing blocks: ${Math.floor((100 * index) / packs.length)} %`);
    const count = await comparison.sameBlocks(pack, work);
    if (count === undefined) continue;
    same.push(pack);
    blocks -= count;
    await nextTurn();
  }
  // The last pack of each backup is small: with new blocks it becomes a larger one.
  const taken = blocks === 0 ? same : same.filter(({ bytes }) => 2 * bytes >= packBytes);
  const pack = database.prepare("insert into main.pack (number, name, bytes, sha256) values (?, ?, ?, ?)");
  const rows = database.prepare(
    `insert into main.packed_block (seq, pack, at, length, crc, numbered)
     select seq, ?1, at, length, crc, numbered from earlier.packed_block where pack = ?2`,
  );
  for (const [index, { number, name, bytes, sha256 }] of taken.entries()) {
    pack.run(index + 1, name, bytes, sha256);
    rows.run(index + 1, number);
    await nextTurn();
  }
  return taken;
}

class Comparison {
  readonly #rows;
  readonly #unknown;

  constructor(database: DatabaseSync) {
    const numbers = ["device", "first", "last", "count", "bytes"];
    const differs = numbers.map((column) => `own.${column} is not old.${column}`).join(" or ");
    // Data of earlier versions have no checksums of rows.
    const has = database.prepare("select 1 from pragma_table_info('block') where name = 'crc'").get() !== undefined;
    const sum = has ? sumOfBytes : "0";
    this.#rows = database.prepare(
      `select count(*) as blocks, total(own.seq is null or ${differs} or ${sum} not in (0, place.crc)) as changed, total(${sum} = 0) as unknown
       from earlier.packed_block place left join earlier.block old using (seq) left join main.block own using (seq) where place.pack = ?`,
    );
    this.#unknown = database.prepare(
      `select place.seq as seq, place.crc as crc, data from earlier.packed_block place join main.block own using (seq)
       left join live.block_data using (seq) where place.pack = ? and place.seq > ? and ${sum} = 0 order by place.seq limit ${step}`,
    );
  }

  /** How many blocks a pack has, or undefined if one of them is gone or another one now. */
  async sameBlocks({ number }: Pack, work: LongWork): Promise<number | undefined> {
    const { blocks, changed, unknown } = this.#rows.get(number) ?? {};
    if (Number(blocks) === 0 || changed !== 0) return undefined;
    if (unknown !== 0 && !(await this.#haveSameBytes(number, work))) return undefined;
    return Number(blocks);
  }

  /** Reads the bytes of blocks whose rows have no checksum of them: an older version wrote the rows. */
  async #haveSameBytes(pack: number, { signal }: LongWork): Promise<boolean> {
    for (let after = Number.MIN_SAFE_INTEGER; ; await nextTurn()) {
      signal.throwIfAborted();
      const rows = this.#unknown.all(pack, after);
      if (rows.length === 0) return true;
      for (const { seq, crc, data } of rows) {
        if (!(data instanceof Uint8Array) || crc32(data) !== crc) return false;
        after = Number(seq);
      }
    }
  }
}
