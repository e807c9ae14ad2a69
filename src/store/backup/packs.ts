import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { asDoubles, doubles } from "../sqlite/row-sums.ts";

/*
 * A backup has the bytes of blocks in files of their own: packs. The bytes of some blocks lie in a pack one behind the other, without gaps. A pack never changes, and its name is its
 * SHA-256. So the next backup takes over whole packs, and a program that copies folders copies only new ones. Two tables beside the other ones say what lies where.
 */

/** Bytes from which on a pack is full. */
export const fullPack = 16 * 1024 * 1024;

/** `crc`: the CRC-32 of the bytes. `numbered`: how many of the block's records have an arrival number. */
export const packTables = `
  create table pack (number integer primary key, name text not null, bytes integer not null, sha256 text not null);
  create table packed_block (seq integer primary key, pack integer not null, at integer not null, length integer not null, crc integer not null, numbered integer not null);
`;

/** For after the rows. */
export const packIndex = "create index packed_block_pack on packed_block (pack)";

/** A file with the bytes of blocks. */
export interface Pack {
  readonly number: number;
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The name of a pack that is being written. */
export const newPack = "blocks.new";

/** The name of the pack with this SHA-256. */
export function packName(sha256: string): string {
  return `blocks-${sha256.slice(0, 32)}.pack`;
}

/** Whether a file of a backup is a pack, or was to become one. */
export function isPackName(name: string): boolean {
  return name === newPack || /^blocks-[0-9a-f]{32}\.pack$/.test(name);
}

/** Whether a database is that of a backup whose blocks are in packs. */
export function hasPacks(database: DatabaseSync): boolean {
  return database.prepare("select 1 from sqlite_master where name = 'packed_block'").get() !== undefined;
}

/** The packs that a backup's database names. */
export function packsOf(database: DatabaseSync): readonly Pack[] {
  // As doubles: a damaged integer may be too large for JavaScript.
  const columns = `${asDoubles(["number", "bytes"])}, name, sha256`;
  const rows = database.prepare(`select ${columns} from pack order by pack.rowid`).all();
  return rows.map(({ number, name, bytes, sha256 }) => ({
    number: Number(number),
    name: String(name),
    bytes: Number(bytes),
    sha256: String(sha256),
  }));
}

/** Files that are open at once. */
const mostOpen = 16;

/** Reads the bytes of blocks from the packs of a backup. */
export class PackFiles {
  readonly #folder: string;
  readonly #packs: ReadonlyMap<number, Pack>;
  readonly #open = new Map<number, number>();

  constructor(folder: string, packs: readonly Pack[]) {
    this.#folder = folder;
    this.#packs = new Map(packs.map((pack) => [pack.number, pack]));
  }

  /** The bytes of a block, right or not. Undefined: they are not there, or the disk does not give them. */
  read(number: number, at: number, length: number): Uint8Array | undefined {
    const pack = this.#packs.get(number);
    // Where the list of blocks is damaged, it may name any place.
    const isPlace = [at, length].every((each) => Number.isSafeInteger(each) && each >= 0);
    if (pack === undefined || !isPlace || at + length > pack.bytes) return undefined;
    const bytes = Buffer.alloc(length);
    try {
      return readSync(this.#file(pack), bytes, 0, length, at) === length ? bytes : undefined;
    } catch (error) {
      if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EIO"))
        return undefined;
      throw error;
    }
  }

  #file({ number, name }: Pack): number {
    const known = this.#open.get(number);
    if (known !== undefined) return known;
    const [oldest] = this.#open;
    if (oldest !== undefined && this.#open.size >= mostOpen) {
      this.#open.delete(oldest[0]);
      closeSync(oldest[1]);
    }
    const file = openSync(join(this.#folder, name), "r");
    this.#open.set(number, file);
    return file;
  }

  close(): void {
    for (const file of this.#open.values()) closeSync(file);
    this.#open.clear();
  }
}

/** Lets queries of a backup's database find the bytes of blocks where they are in a data folder: in a table `block_data`. */
export function showPacks(database: DatabaseSync, files: PackFiles): void {
  database.function("packed_bytes", (pack, at, length) => files.read(Number(pack), Number(at), Number(length)) ?? null);
  database.exec(
    `create temp view block_data as select seq, packed_bytes(${doubles(["pack", "at", "length"])}) as data from main.packed_block`,
  );
}
