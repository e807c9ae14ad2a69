import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { sync } from "../sqlite/private-files.ts";
import { damagedBackup, names } from "./manifest.ts";
import { type Pack, PackFiles, packsOf } from "./packs.ts";
import type { LongWork } from "./refused.ts";

/** Blocks that one step copies. */
const step = 256;

/** Puts the bytes of blocks from a backup's packs into `file`, a copy of the backup's database, which then is as in a data folder. The file is on disk when this returns. */
export async function unpack(file: string, backup: string, work: LongWork): Promise<void> {
  const database = new DatabaseSync(file);
  try {
    const address = pathToFileURL(join(backup, names.tables));
    address.searchParams.set("mode", "ro");
    database.prepare("attach ? as backup").run(address.href);
    // A copy that is cut short is deleted.
    database.exec("pragma synchronous = off; pragma cache_size = -16000; begin");
    const packs = packsOf(database);
    // First, so that the bytes use their pages.
    database.exec("drop table main.packed_block; drop table main.pack");
    // Data of earlier versions have no blocks, and no table for their bytes.
    if (packs.length > 0) await putBack(database, backup, packs, work);
    database.exec("commit");
  } finally {
    database.close();
  }
  sync(file);
}

async function putBack(
  database: DatabaseSync,
  backup: string,
  packs: readonly Pack[],
  { signal, progress }: LongWork,
): Promise<void> {
  const all = Number(database.prepare("select count(*) as n from backup.packed_block").get()?.n);
  const some = database.prepare(
    `select seq, pack, at, length from backup.packed_block where seq > ? order by seq limit ${step}`,
  );
  const insert = database.prepare("insert into main.block_data (seq, data) values (?, ?)");
  const files = new PackFiles(backup, packs);
  try {
    for (let after = Number.MIN_SAFE_INTEGER, done = 0; ; ) {
      signal.throwIfAborted();
      const rows = some.all(after);
      if (rows.length === 0) break;
      for (const { seq, pack, at, length } of rows) {
        const data = files.read(Number(pack), Number(at), Number(length));
        if (data === undefined) throw damagedBackup(backup, `the bytes of block ${seq} can't be read`);
        insert.run(Number(seq), data);
        after = Number(seq);
      }
      done += rows.length;
      progress(() => `putting blocks back: ${Math.floor((100 * done) / all)} %`);
      await nextTurn();
    }
  } finally {
    files.close();
  }
}
