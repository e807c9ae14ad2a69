import assert from "node:assert/strict";
import fs, { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { EngineError, storeError } from "../locations/failures.ts";
import { DataFolderUnusable, openFailure } from "./folder.ts";
import { closeMarked, logBelongs, markClosed, markOf, markOpen } from "./open-mark.ts";

/** The file of a new database, gone after the test. */
function fileOf(context: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "waybeam-mark-"));
  context.after(() => rmSync(directory, { recursive: true }));
  return join(directory, "waybeam.db");
}

function opened(context: TestContext, file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  context.after(() => database.isOpen && database.close());
  database.exec("pragma journal_mode = wal; create table if not exists t (a)");
  return database;
}

/** Somebody who reads, so that the log can't be moved into the database. */
function reads(context: TestContext, file: string): void {
  const reader = new DatabaseSync(file, { readOnly: true });
  context.after(() => reader.close());
  reader.exec("begin");
  reader.prepare("select * from t").all();
}

const headOf = (file: string) => markOf(readFileSync(file).subarray(0, 100));

test("a database beside which nothing can be written at its close says in its header that it was closed", (context) => {
  const file = fileOf(context);
  const database = opened(context, file);
  markOpen(database);
  // In the place of the file that is written: as on a full disk, writing fails.
  mkdirSync(`${file}-open.new`);
  assert.ok(logBelongs(file, 2), "a log that could not be moved at the close is the database's own");
  markClosed(database);
  closeMarked(database);
  assert.ok(!existsSync(`${file}-wal`));
  assert.equal(headOf(file).open, false);
});

test("a log belongs to its database however often the service starts while somebody reads", (context) => {
  const file = fileOf(context);
  opened(context, file).close();
  const first = opened(context, file);
  reads(context, file);
  for (let start = 0; start < 160; start++) {
    const database = opened(context, file);
    markOpen(database);
    markClosed(database);
    database.close();
  }
  first.close();
  assert.ok(logBelongs(file, headOf(file).number));
  assert.ok(!logBelongs(file, headOf(file).number + 1000));
  assert.ok(readFileSync(`${file}-open`).length < 30);
});

test("a log whose numbers were not kept belongs to its database after the next start, which can't move it", (context) => {
  const file = fileOf(context);
  opened(context, file).close();
  reads(context, file);
  markOpen(opened(context, file));
  rmSync(`${file}-open`);
  markOpen(opened(context, file));
  assert.ok(logBelongs(file, headOf(file).number));
});

test("a database is marked as open whatever its number was", (context) => {
  const file = fileOf(context);
  const database = opened(context, file);
  for (const number of [0, 1, 2, 0x7fff_fffb, 0x7fff_fffc, 0x7fff_fffd, 0x7fff_fffe, 0x7fff_ffff]) {
    database.exec(`pragma user_version = ${number}`);
    markOpen(database);
    assert.equal(headOf(file).open, true, String(number));
    assert.ok(logBelongs(file, headOf(file).number));
  }
});

test("a full disk is told as one, and nothing half written stays on it", (context) => {
  const file = fileOf(context);
  const database = opened(context, file);
  const { writeFileSync } = fs;
  const noRoom = () => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  };
  Object.assign(fs, { writeFileSync: noRoom });
  syncBuiltinESMExports();
  let failure: unknown;
  try {
    markOpen(database);
  } catch (error) {
    failure = error;
  } finally {
    Object.assign(fs, { writeFileSync });
    syncBuiltinESMExports();
  }
  assert.ok(failure instanceof EngineError);
  const told = openFailure(storeError(failure), "data", "waybeam.db");
  assert.ok(told instanceof DataFolderUnusable && /no space left/.test(told.message) && /^Free some/.test(told.advice));
  assert.ok(!readdirSync(join(file, "..")).some((name) => name.startsWith("waybeam.db-open")));
});
