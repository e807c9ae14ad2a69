import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Bytes of a page of the service's databases. */
export const pageBytes = 4096;

/**
 * Numbers of the leaf pages of a table or an index, in the order of their rows. Those of overflowing rows are left out.
 */
export function pagesOf(directory: string, name: string, file = "waybeam.db"): readonly number[] {
  const database = new DatabaseSync(join(directory, file), { readOnly: true });
  const pages = database
    .prepare("select pageno from dbstat where name = ? and pagetype = 'leaf' order by path")
    .all(name)
    .map(({ pageno }) => Number(pageno));
  database.close();
  return pages;
}

/** Changes bits of an octet in a page of a folder that nobody has open. */
export function spoil(directory: string, page: number, at: number, bits = 1, name = "waybeam.db"): void {
  const file = openSync(join(directory, name), "r+");
  const octet = new Uint8Array(1);
  const place = (page - 1) * pageBytes + at;
  readSync(file, octet, 0, 1, place);
  octet[0] = (octet[0] ?? 0) ^ bits;
  writeSync(file, octet, 0, 1, place);
  closeSync(file);
}
