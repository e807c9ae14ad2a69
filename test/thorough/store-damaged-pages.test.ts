import assert from "node:assert/strict";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import type { Device } from "../../src/model/device.ts";
import { neverReported } from "../../src/model/location.ts";
import type { Store } from "../../src/ports/store.ts";
import { DataFolderUnusable } from "../../src/store/sqlite/folder.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { batchOf, everything, readAll } from "../contract/store/records.ts";
import { findingsOf, folder, written } from "../support/kept-states.ts";
import { pageBytes, pagesOf, spoil } from "../support/pages.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

const devices = 3;
const commits = 200;

/** A folder with so many rows in the tail that these take several pages, one after the other of each device. */
async function filled(context: TestContext) {
  const directory = folder(context);
  const store = await openStore(directory);
  const account = await makeAccount(store);
  const made: Device[] = [];
  while (made.length < devices) made.push(await makeDevice(store, account.key));
  let states = made.map(() => neverReported);
  for (let at = 0; at < commits; at++) {
    const some = made.map((device, index) => written(device, states[index] ?? neverReported));
    assert.equal(await store.locations.commit(batchOf(...some)), undefined);
    states = some.map(({ state }) => state);
  }
  await store.close();
  return { directory, made, keys: made.map(({ key }) => key) };
}

/** Opens the store and collects what its log tells. */
async function opened(context: TestContext, directory: string) {
  const told: Record<string, unknown>[] = [];
  const log = { ...silentLog, error: (fields: object, text?: string) => void told.push({ ...fields, text }) };
  const store = await openStore(directory, log);
  context.after(() => store.close());
  return { store, told };
}

/** Puts patches that change nothing into a folder that nobody has open: of a device, or of so many from that one on. */
function addPatches(directory: string, device: number, count: number, devices = 1): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database
    .prepare(
      `with recursive number (n) as (select 1 union all select n + 1 from number where n < ?)
       insert into patch (device, seq, first, last, count, data) select ? + n % ?, 5, 0, 0, 1, x'' from number`,
    )
    .run(count, device, devices);
  database.close();
}

/** A device's history grows by what it reports. */
async function goesOn(store: Store, device: Device): Promise<void> {
  const { count } = await readAll(store, device.key, everything);
  const [state = assert.fail()] = await store.locations.states([device.key]);
  assert.equal(await store.locations.commit(batchOf(written(device, state))), undefined);
  assert.equal((await readAll(store, device.key, everything)).count, count + 1);
}

const spoiled: Readonly<Record<string, number>> = {
  "the kind of the page": 0,
  "the number of its rows": 3,
};

for (const [what, place] of Object.entries(spoiled))
  test(`a page in the midst of the tail that can't be read costs its own rows, and is told: ${what}`, async (context) => {
    const { directory, made } = await filled(context);
    const pages = pagesOf(directory, "tail");
    assert.ok(pages.length > 4);
    spoil(directory, pages[2] ?? 0, place);
    const findings = await findingsOf(directory);
    assert.ok(
      findings.some(({ problem }) => /can't be read|tail: page/.test(problem)),
      JSON.stringify(findings),
    );
    const { store, told } = await opened(context, directory);
    assert.ok(told.length > 0 && told.length < 5, JSON.stringify(told));
    assert.equal(store.sealing.damaged, told.length);
    const rows = new Set<number>();
    for (const { firstRow, lastRow, from, to } of told) {
      for (let row = Number(firstRow); row <= Number(lastRow); row++) rows.add(row);
      assert.ok(String(from) <= String(to), `${from} to ${to}`);
    }
    const lost = rows.size;
    assert.ok(lost > 1 && lost < commits, `${lost} rows`);
    let left = 0;
    for (const device of made) {
      left += (await readAll(store, device.key, everything)).count;
      await goesOn(store, device);
    }
    assert.equal(left, devices * commits - lost);
  });

test("a page at the end of the tail that can't be read is told at the start, since nothing can be stored", async (context) => {
  const { directory } = await filled(context);
  spoil(directory, pagesOf(directory, "tail").at(-1) ?? 0, 0);
  await assert.rejects(openStore(directory), (error) => {
    assert.ok(error instanceof DataFolderUnusable, String(error));
    assert.match(error.message, /the end of the table tail, or .*, is damaged, so that no position can be stored/);
    assert.match(error.advice, /Restore it from a backup/);
    return true;
  });
});

test("pages of blocks, states and late reports' changes that can't be read cost their own devices", async (context) => {
  const { directory, made, keys } = await filled(context);
  const before = await openStore(directory);
  for (const key of keys) await before.seal(key);
  const whole = await readAll(before, keys[0] ?? 0, everything);
  await before.close();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  // So many rows of other devices that each table has several pages.
  for (let key = 1000; key < 3000; key++) {
    database.prepare("insert into shifts (device, seq, since, count, data) values (?, 5, 0, 1, zeroblob(40))").run(key);
    database
      .prepare("insert into patch (device, seq, first, last, count, data) values (?, 5, 0, 0, 1, zeroblob(60))")
      .run(key);
    database
      .prepare("insert into block (seq, device, first, last, count, bytes, as_of) values (?, ?, 1, 1, 1, 1, 1)")
      .run(100_000 + key, key);
  }
  database.close();
  for (const table of ["shifts", "patch", "block"]) {
    const pages = pagesOf(directory, table);
    assert.ok(pages.length > 3, table);
    spoil(directory, pages[2] ?? 0, 0);
  }
  const { store, told } = await opened(context, directory);
  assert.deepEqual(await readAll(store, keys[0] ?? 0, everything), whole);
  for (const device of made) await goesOn(store, device);
  const texts = JSON.stringify(told);
  for (const table of ["shifts", "patch", "block"]) assert.match(texts, new RegExp(`\\b${table}\\b`));
});

test("a device whose state is not found has lost it: it does not begin anew", async (context) => {
  const { directory, made } = await filled(context);
  const [damaged = assert.fail(), other = assert.fail()] = made;
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.prepare("delete from device_state where device = ?").run(damaged.key);
  database.close();
  const { store } = await opened(context, directory);
  await assert.rejects(
    store.locations.states([damaged.key]),
    new RegExp(`the state of device ${damaged.key} .*is damaged`),
  );
  assert.equal((await readAll(store, damaged.key, everything)).count, commits);
  await goesOn(store, other);
});

test("a damaged entry of the index of patches hides no patch: the index is made anew", async (context) => {
  const { directory, keys } = await filled(context);
  addPatches(directory, keys[0] ?? 0, 20, 20);
  const [page = 0] = pagesOf(directory, "patch_device");
  // The last octet of the page is of the first entry: its row.
  spoil(directory, page, 8191, 64);
  const warned: string[] = [];
  const store = await openStore(directory, { ...silentLog, warn: (_fields, text) => void warned.push(text ?? "") });
  await store.close();
  assert.deepEqual(
    warned.filter((text) => text.includes("patch_device")),
    ["the index patch_device was damaged and is made anew"],
  );
  assert.deepEqual(await findingsOf(directory), []);
});

test("a page of the index of patches that can't be read is told, and costs nobody else anything", async (context) => {
  const { directory, made, keys } = await filled(context);
  addPatches(directory, keys[0] ?? 0, 2000);
  const [page = 0, ...others] = pagesOf(directory, "patch_device");
  assert.ok(others.length > 0);
  spoil(directory, page, 0);
  const { store, told } = await opened(context, directory);
  assert.ok(told.some(({ text }) => String(text).includes("patch_device")));
  await goesOn(store, made[2] ?? assert.fail());
  const [damaged = 0, , other = 0] = keys;
  const named = new RegExp(`totals of device ${damaged} is damaged`);
  await assert.rejects(readAll(store, damaged, everything), named);
  // One call to the reader asks for both.
  const place = { time: 0, arrival: Number.POSITIVE_INFINITY };
  const of = [damaged, other].map((device) => store.locations.context(device, place, 8));
  const [ofDamaged, ofOther] = await Promise.allSettled(of);
  assert.equal(ofOther?.status, "fulfilled");
  assert.ok(ofDamaged?.status === "rejected" && named.test(String(ofDamaged.reason)));
});

test("a sector of patches that is lost is no reason to rebuild their index without them: totals would lack what they add", async (context) => {
  const { directory, made, keys } = await filled(context);
  const [key = 0] = keys;
  addPatches(directory, key, 300);
  const [page = 0] = pagesOf(directory, "patch");
  const file = openSync(join(directory, "waybeam.db"), "r+");
  writeSync(file, new Uint8Array(pageBytes / 2), 0, pageBytes / 2, page * pageBytes - pageBytes / 2);
  closeSync(file);
  const { store } = await opened(context, directory);
  await assert.rejects(readAll(store, key, everything), new RegExp(`totals of device ${key} is damaged`));
  await goesOn(store, made[2] ?? assert.fail());
});

test("a start reads any number of patches that wait: a fleet that came back from a tunnel has more than a thread's memory", async (context) => {
  const { directory, made } = await filled(context);
  addPatches(directory, 1000, 300_000, 1000);
  const { store, told } = await opened(context, directory);
  assert.deepEqual(told, []);
  await goesOn(store, made[2] ?? assert.fail());
});

for (const table of ["device", "account", "device_identifier"])
  test(`a page of a table that all need is told after the start where it can't be read: ${table}`, async (context) => {
    const { directory } = await filled(context);
    spoil(directory, pagesOf(directory, table)[0] ?? 0, 0);
    const told = Promise.withResolvers<object>();
    const store = await openStore(directory, { ...silentLog, error: told.resolve });
    context.after(() => store.close());
    assert.partialDeepStrictEqual(await told.promise, { table });
  });

test("rows that a changed bit in the head of their page hides are told after the start", async (context) => {
  const { directory, keys } = await filled(context);
  // Four rows fewer, or eight more of which there is nothing.
  spoil(directory, pagesOf(directory, "tail")[2] ?? 0, 4, 4);
  const told = Promise.withResolvers<object>();
  const store = await openStore(directory, { ...silentLog, error: told.resolve });
  context.after(() => store.close());
  assert.partialDeepStrictEqual(await told.promise, { table: "tail" });
  assert.ok((await readAll(store, keys[0] ?? 0, everything)).count > 0);
});
