import { createHash, type Hash } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { columnsOf } from "../sqlite/row-sums.ts";
import { type Row, rowOf } from "./chunk-walk.ts";
import { newPack, type Pack, packName } from "./packs.ts";
import { type LongWork, livesDamaged } from "./refused.ts";

/** Blocks that one step copies. */
const step = 64;

/** Writes packs. What they hold was read, record by record, before it is written. */
class PackWriter {
  readonly #folder: string;
  readonly #insertPack: StatementSync;
  readonly #insertBlock: StatementSync;
  readonly packs: Pack[] = [];
  #file: number | undefined;
  #hash: Hash = createHash("sha256");
  #number: number;
  bytes = 0;

  constructor(database: DatabaseSync, folder: string) {
    this.#folder = folder;
    this.#insertPack = database.prepare("insert into main.pack (number, name, bytes, sha256) values (?, ?, ?, ?)");
    this.#insertBlock = database.prepare(
      "insert into main.packed_block (seq, pack, at, length, crc, numbered) values (?, ?, ?, ?, ?, ?)",
    );
    this.#number = 1 + Number(database.prepare("select coalesce(max(number), 0) as n from main.pack").get()?.n);
  }

  write({ seq, checked }: Row, data: Uint8Array): void {
    this.#file ??= openSync(join(this.#folder, newPack), "wx", 0o600);
    for (let at = 0; at < data.byteLength; ) at += writeSync(this.#file, data, at);
    this.#hash.update(data);
    this.#insertBlock.run(seq, this.#number, this.bytes, data.byteLength, crc32(data), checked.numbered);
    this.bytes += data.byteLength;
  }

  /** Gives the pack that is being written its name. It is on disk when this returns. */
  finish(): void {
    if (this.#file === undefined) return;
    fsyncSync(this.#file);
    this.close();
    const sha256 = this.#hash.digest("hex");
    const pack = { number: this.#number++, name: packName(sha256), bytes: this.bytes, sha256 };
    renameSync(join(this.#folder, newPack), join(this.#folder, pack.name));
    this.#insertPack.run(pack.number, pack.name, pack.bytes, pack.sha256);
    this.packs.push(pack);
    this.#hash = createHash("sha256");
    this.bytes = 0;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/**
 * Copies the bytes of all blocks that no pack has yet from the database `live` into new packs. `main` holds the blocks' rows as of the same moment.
 * Throws `BackupRefused` where a block is damaged.
 */
export async function writePacks(
  database: DatabaseSync,
  folder: string,
  packBytes: number,
  { signal, progress }: LongWork,
): Promise<readonly Pack[]> {
  const without = "from main.block left join main.packed_block using (seq) where packed_block.seq is null";
  const all = Number(database.prepare(`select count(*) as n ${without}`).get()?.n);
  const some = database.prepare(
    `select ${columnsOf(database, "block")}, data from (select block.* ${without} and block.rowid > ? order by block.rowid limit ${step}) as block
     left join live.block_data using (seq) order by block.seq`,
  );
  const writer = new PackWriter(database, folder);
  try {
    for (let after = Number.MIN_SAFE_INTEGER, done = 0; ; ) {
      signal.throwIfAborted();
      const rows = some.all(after);
      for (const each of rows) {
        const row = rowOf("block", each, each.data);
        if (!(each.data instanceof Uint8Array) || row.checked.problem !== undefined) throw damagedBlock(database, row);
        writer.write(row, each.data);
        if (writer.bytes >= packBytes) writer.finish();
        after = row.seq;
      }
      done += rows.length;
      if (rows.length === 0) break;
      progress(() => `copying blocks: ${Math.floor((100 * done) / all)} %`);
      await nextTurn();
    }
    writer.finish();
    return writer.packs;
  } finally {
    writer.close();
  }
}

function damagedBlock(database: DatabaseSync, { seq, device, count, checked }: Row): Error {
  const id = database.prepare("select id from live.device where key = ?").get(device)?.id;
  const problem = `block ${seq} with ${count} positions is damaged: ${checked.problem}`;
  return livesDamaged({ device: id === undefined ? undefined : String(id), problem });
}
