import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { test } from "node:test";
import { filled } from "../../../test/support/backup-folders.ts";
import { check } from "./check.ts";

const work = { signal: new AbortController().signal, progress: () => {} };

/** A row of a table of the follower, with these bytes and nothing else of use. */
function insert(database: DatabaseSync, table: string, values: Readonly<Record<string, SQLInputValue>>): void {
  const columns = database.prepare(`pragma table_info(${table})`).all();
  const row = columns.map(({ name }) => values[String(name)] ?? 0);
  database.prepare(`insert into ${table} values (${row.map(() => "?").join(", ")})`).run(...row);
}

test("a damaged head and a damaged day are told by their device, and all else is read", async (context) => {
  const { directory, ids } = await filled(context, 3, 100);
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  context.after(() => database.close());
  const [first, second] = ids
    .slice(0, 2)
    .map((id) => Number(database.prepare("select key from device where id = ?").get(id)?.key));
  const data = new Uint8Array(60).fill(7);
  insert(database, "device_head", { device: first ?? 0, data });
  insert(database, "device_day", { device: second ?? 0, day: 20_000, data });
  const found = await check({ directory, secretFile: undefined, pid: process.pid }, work);
  assert.deepEqual([found.devices, found.positions, found.more], [3, 300, 0]);
  const told = found.findings.map(({ device, problem }) => [device, problem]);
  assert.equal(told.length, 2, JSON.stringify(told));
  const [head, day] = told;
  assert.equal(head?.[0], ids[0]);
  assert.match(String(head?.[1]), /^its head \(the last position and the totals\) is damaged: /);
  assert.equal(day?.[0], ids[1]);
  assert.match(String(day?.[1]), /^its day 2024-10-04 is damaged: /);
});
