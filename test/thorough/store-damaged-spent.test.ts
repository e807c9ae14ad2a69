import assert from "node:assert/strict";
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { rowSum } from "../../src/store/records/row-sum.ts";
import { summed } from "../../src/store/sqlite/row-sums.ts";
import { addSpentFunction } from "../../src/store/sqlite/spent-table.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { findingsOf, folder } from "../support/kept-states.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { commandLine } from "../support/waybeam.ts";

const fixes = drive(chance(3), 700);

function run(directory: string, sql: string): Readonly<Record<string, unknown>>[] {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** A service with a device. */
async function started(context: TestContext) {
  const directory = dataFolder();
  context.after(() => removeFolder(directory));
  const world = new World(directory);
  await world.start();
  const account = await makeAccount(world.store);
  const { id, key } = await makeDevice(world.store, account.key);
  return { world, directory, account, id, key, admitted: await world.admitted(id) };
}

/** The same with 400 positions, and as many of another device between them, whose rows keep those around them in the tail. */
async function mixed(context: TestContext) {
  const made = await started(context);
  const { world, account, admitted } = made;
  const other = await world.admitted((await makeDevice(world.store, account.key)).id);
  for (let at = 0; at < 400; at += 4)
    for (const each of [admitted, other]) await world.deliver(each, fixes.slice(at, at + 4));
  return made;
}

const damages = {
  "the row number": "update spent set seq = seq + 4096",
  "the rows that stay": "update spent set data = x'0000000000001440'",
  "the number of the device": "update spent set device = device + 100",
  "the checksum": "update spent set crc = crc + 1",
};

for (const [what, sql] of Object.entries(damages))
  test(`positions are there once though what is spent of the tail is damaged: ${what}`, async (context) => {
    const { world, directory, id, key, admitted } = await mixed(context);
    await world.store.seal(key);
    await world.deliver(admitted, fixes.slice(400, 450));
    await world.stop();
    assert.ok(
      Number(run(directory, "select count(*) as n from tail")[0]?.n) > 150,
      "sealed rows are still in the tail",
    );
    assert.deepEqual(await findingsOf(directory), []);
    run(directory, sql);
    const [finding] = await findingsOf(directory);
    assert.equal(finding?.device, id);
    assert.match(finding?.problem ?? "", /which of its positions are in blocks is damaged/);
    await world.start();
    await world.compare(key, fixes.slice(0, 450), "after the damage");
    await world.deliver(admitted, fixes.slice(450));
    await world.store.seal(key);
    await world.compare(key, fixes, "sealed again");
    await world.stop();
    assert.deepEqual(await findingsOf(directory), [], "sealing writes it anew");
    await world.start();
    await world.compare(key, fixes, "after another start");
    await world.stop();
  });

/** A vehicle that stands: what comes late changes no totals, so that full blocks need not be packed anew. */
const standing: readonly Fix[] = Array.from({ length: 1700 }, (_, number) => ({
  type: "fix",
  time: Date.UTC(2026, 5, 1) + number * 10_000,
  valid: true,
  latitude: 48,
  longitude: 11,
  speed: 0,
  course: 0,
  alarms: [],
  readings: {},
  attributes: { number },
}));

/** The places of positions that come late. */
const late = [100, 101, 300, 700, 701, 900];

/** The same with positions that lie beside blocks, and below the row number up to which rows are spent. Returns what was delivered. */
async function besideBlocks({ world, account, key, admitted }: Awaited<ReturnType<typeof started>>) {
  const other = await world.admitted((await makeDevice(world.store, account.key)).id);
  const inOrder = async (from: number, to: number) => {
    for (let at = from; at < to; at += 16) {
      const some = standing.slice(at, Math.min(to, at + 16)).filter((_, place) => !late.includes(at + place));
      await world.deliver(admitted, some);
      await world.deliver(other, some);
    }
  };
  await inOrder(0, 1040);
  await world.store.seal(key);
  for (const place of late) await world.deliver(admitted, standing.slice(place, place + 1));
  await inOrder(1040, 1600);
  await world.store.seal(key);
  return standing.slice(0, 1600);
}

/** Blocks are lifted without taking in what lies beside them: their row numbers say no more which rows they hold. */
function lift(directory: string): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  const asOf = Number(database.prepare("select max(seq) as seq from tail").get()?.seq);
  const all = database.prepare(`select block.*, data from block join block_data using (seq)`).all();
  const change = database.prepare("update block set as_of = ?, crc = ? where seq = ?");
  for (const { data, ...block } of all) {
    assert.ok(data instanceof Uint8Array);
    const numbers = summed.block.map((column) => (column === "as_of" ? asOf : Number(block[column])));
    change.run(asOf, rowSum(numbers, data), Number(block.seq));
  }
  database.close();
}

for (const what of ["the checksum", "the number of the device"] as const)
  test(`late positions beside blocks are there though what is spent of the tail is damaged: ${what}`, async (context) => {
    const made = await started(context);
    const { world, directory, id, key, admitted } = made;
    const delivered = await besideBlocks(made);
    await world.compare(key, delivered, "before the damage");
    await world.stop();
    const [entry] = run(directory, `select length(data) as stays from spent where device = ${key}`);
    assert.ok(Number(entry?.stays) > 0, "late rows stay beside the blocks");
    lift(directory);
    assert.deepEqual(await findingsOf(directory), []);
    run(directory, `${damages[what]} where device = ${key}`);
    const findings = await findingsOf(directory);
    assert.deepEqual(
      findings.map(({ device }) => device),
      [id],
    );
    assert.match(findings[0]?.problem ?? "", /which of its positions are in blocks is damaged/);
    const backup = join(folder(context), "backup");
    const { code, err } = await commandLine(directory).waybeam(["backup", backup]);
    assert.equal(code, 0, err);
    assert.match(err, /which positions of 1 device are in blocks/);
    const checked = await commandLine(directory).waybeam(["check", backup]);
    assert.equal(checked.code, 0, checked.err);
    for (let starts = 0; starts < 2; starts++) {
      await world.start();
      await world.compare(key, delivered, "after the damage");
      await world.stop();
    }
    await world.start();
    await world.deliver(admitted, standing.slice(1600));
    await world.store.seal(key);
    await world.compare(key, standing, "sealed again");
    await world.stop();
    assert.deepEqual(await findingsOf(directory), [], "sealing writes it anew");
    await world.start();
    await world.compare(key, standing, "after another start");
    await world.stop();
  });

test("a damaged row whose positions are in blocks is no loss", async (context) => {
  const { world, directory, key } = await mixed(context);
  await world.store.seal(key);
  await world.stop();
  run(directory, `update tail set data = zeroblob(length(data)) where device = ${key}`);
  assert.deepEqual(await findingsOf(directory), []);
  await world.start();
  await world.compare(key, fixes.slice(0, 400), "after the damage");
  await world.stop();
});

test("positions that are deleted leave no sealed rows in the tail", async (context) => {
  const { world, directory, key, admitted } = await started(context);
  context.after(() => world.stop());
  for (let at = 0; at < 600; at += 20) await world.deliver(admitted, fixes.slice(at, at + 20));
  await world.store.seal(key);
  await world.deliver(admitted, fixes.slice(600, 620));
  await world.store.seal(key);
  const { time = 0 } = fixes[560] ?? {};
  while ((await world.store.locations.deleteOld(key, time)).more);
  const oldest = run(directory, `select count(*) as n from tail where last < ${fixes[200]?.time}`);
  assert.equal(oldest[0]?.n, 0);
});

test("rows that could not be read when the device was sealed are there again once they can be read", async (context) => {
  const { world, directory, key, admitted } = await mixed(context);
  await world.stop();
  const heal = damage(directory);
  await world.start();
  assert.notEqual((await world.history(key)).length, 400, "some can't be read");
  await world.deliver(admitted, fixes.slice(400, 450));
  await world.store.seal(key);
  await world.stop();
  heal();
  await world.start();
  await world.compare(key, fixes.slice(0, 450), "as the page can be read again");
  await world.deliver(admitted, fixes.slice(450));
  await world.store.seal(key);
  await world.compare(key, fixes, "sealed again");
  await world.stop();
  assert.deepEqual(await findingsOf(directory), []);
});

test("a new row gets no number up to which rows are spent, though the device's blocks are lost", async (context) => {
  const { world, directory, key, admitted } = await started(context);
  for (let at = 0; at < 400; at += 4) await world.deliver(admitted, fixes.slice(at, at + 4));
  await world.store.seal(key);
  await world.stop();
  for (const table of ["tail", "block", "block_data"]) run(directory, `delete from ${table}`);
  // As after a kill.
  run(directory, "delete from setting where name in ('states', 'states again')");
  await world.start();
  await world.deliver(admitted, fixes.slice(400, 450));
  const stored = await world.history(key);
  assert.equal(stored.length, 50);
  await world.stop();
  await world.start();
  assert.deepEqual(await world.history(key), stored);
  await world.stop();
});

test("rows with damaged numbers are told apart from spent ones by all who copy positions", async (context) => {
  const { world, directory, admitted } = await started(context);
  await world.deliver(admitted, fixes.slice(0, 8));
  await world.stop();
  run(directory, "update tail set first = 1 << 62, last = 9e99, device = 'x'");
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  addSpentFunction(database);
  const rows = database.prepare("select is_spent(device, seq) as spent from tail").all();
  assert.deepEqual(
    rows.map(({ spent }) => spent),
    [0],
  );
  database.close();
});

/** Makes a page of the tail unreadable. Returns what makes it readable. */
function damage(directory: string): () => void {
  const size = Number(run(directory, "pragma page_size")[0]?.page_size);
  const page = run(directory, "select pageno from dbstat where name = 'tail' and pagetype = 'leaf' order by path")[2];
  const at = (Number(page?.pageno) - 1) * size;
  const bytes = Buffer.alloc(size);
  const file = openSync(join(directory, "waybeam.db"), "r+");
  readSync(file, bytes, 0, size, at);
  writeSync(file, Buffer.alloc(size, 0xa5), 0, size, at);
  return () => {
    writeSync(file, bytes, 0, size, at);
    closeSync(file);
  };
}
