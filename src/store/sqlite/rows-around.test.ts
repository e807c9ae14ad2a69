import assert from "node:assert/strict";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { folder } from "../../../test/support/kept-states.ts";
import { type LostRows, RowsAround } from "./rows-around.ts";

const rows = 400;

/** A table of rows of one column, and the numbers of the rows on each of its pages. */
function made(context: TestContext) {
  const file = join(folder(context), "rows.db");
  const database = new DatabaseSync(file);
  database.exec("pragma page_size = 512; create table t (seq integer primary key, data blob)");
  const insert = database.prepare("insert into t values (?, zeroblob(40))");
  for (let seq = 1; seq <= rows; seq++) insert.run(seq);
  const leaves = database
    .prepare("select pageno, ncell from dbstat where name = 't' and pagetype = 'leaf' order by path")
    .all();
  database.close();
  let seq = 1;
  const pages = leaves.map(({ pageno, ncell }) => {
    const from = seq;
    seq += Number(ncell);
    return { page: Number(pageno), from, to: seq - 1 };
  });
  return { file, pages };
}

/** Reads the table once some of its pages are unreadable. */
function around(file: string, pages: readonly { readonly page: number }[]) {
  const written = openSync(file, "r+");
  for (const { page } of pages) writeSync(written, Buffer.alloc(512, 0xa5), 0, 512, (page - 1) * 512);
  closeSync(written);
  const database = new DatabaseSync(file, { readOnly: true });
  const lost: LostRows[] = [];
  const found: number[] = [];
  for (const row of new RowsAround(database, { table: "t", columns: "cast(seq as real)" }).all(64))
    if ("from" in row) lost.push(row);
    else found.push(Number(row[0]));
  database.close();
  return { lost, found };
}

test("pages between unreadable ones are read", (context) => {
  const { file, pages } = made(context);
  // Ten unreadable pages, one that can be read, and ten more.
  const bad = [...pages.slice(4, 14), ...pages.slice(15, 25)];
  const isBad = (seq: number) => bad.some(({ from, to }) => seq >= from && seq <= to);
  const { lost, found } = around(file, bad);
  assert.deepEqual(
    found,
    Array.from({ length: rows }, (_, at) => at + 1).filter((seq) => !isBad(seq)),
  );
  for (const { from, to = rows } of lost)
    for (let seq = from; seq <= to; seq++) assert.ok(isBad(seq), `row ${seq} can be read`);
});

test("unreadable pages at the end have no end", (context) => {
  const { file, pages } = made(context);
  const last = pages.slice(-3);
  const { lost, found } = around(file, last);
  assert.equal(found.length, (last[0]?.from ?? 0) - 1);
  assert.deepEqual(lost, [{ from: last[0]?.from, to: undefined }]);
});
