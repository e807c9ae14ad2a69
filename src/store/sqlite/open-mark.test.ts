import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { closeMarked, logBelongs, markClosed, markOf, markOpen } from "./open-mark.ts";

test("a database beside which nothing can be written at its close says in its header that it was closed", (context) => {
  const directory = mkdtempSync(join(tmpdir(), "waybeam-mark-"));
  context.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "waybeam.db");
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal; create table t (a)");
  markOpen(database);
  // In the place of the file that is written: as on a full disk, writing fails.
  mkdirSync(`${file}-open.new`);
  assert.ok(logBelongs(file, 2), "a log that could not be moved at the close is the database's own");
  markClosed(database);
  closeMarked(database);
  assert.ok(!existsSync(`${file}-wal`));
  const header = Buffer.alloc(100);
  readSync(openSync(file, "r"), header, 0, 100, 0);
  assert.equal(markOf(header).open, false);
});
