import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { check } from "../../src/store/backup/check.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";

const positions = 4000;
const some = 100;

/** Two devices with sealed histories, and a folder of a service that is stopped. */
async function sealedWorld() {
  const world = new World(dataFolder());
  await world.start();
  const account = await makeAccount(world.store);
  const fixes = drive(chance(7), positions + some);
  const devices = [await makeDevice(world.store, account.key), await makeDevice(world.store, account.key)];
  for (const { id, key } of devices) {
    const admitted = await world.admitted(id);
    for (let at = 0; at < positions; at += some) await world.deliver(admitted, fixes.slice(at, at + some));
    await world.store.seal(key);
  }
  await world.stop();
  const [damaged, other] = devices;
  assert.ok(damaged && other);
  return { world, fixes, damaged, other };
}

/** Changes one bit in the second block of a device; gives where its records begin and end. */
function damage(directory: string, device: number): { first: number; last: number } {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  const block = "select seq, first, last from block where device = ? order by first limit 1 offset 1";
  const { seq = 0, first, last } = database.prepare(block).get(device) ?? {};
  const data = database.prepare("select data from block_data where seq = ?").get(seq)?.data;
  assert.ok(data instanceof Uint8Array);
  data[500] = (data[500] ?? 0) ^ 1;
  database.prepare("update block_data set data = ? where seq = ?").run(data, seq);
  database.close();
  return { first: Number(first), last: Number(last) };
}

test("a damaged block is told by device and time and costs its own positions, nobody else's", async (context) => {
  const { world, fixes, damaged, other } = await sealedWorld();
  context.after(() => removeFolder(world.place));
  const { first, last } = damage(world.place, damaged.key);
  const errors: object[] = [];
  await world.start({ ...silentLog, error: (fields) => void errors.push(fields) });
  context.after(() => world.stop());
  const range = [first, last].map((time) => new Date(time).toISOString());
  await assert.rejects(world.history(damaged.key), (error) => {
    assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged");
    for (const text of [`device ${damaged.key}`, ...range]) assert.ok(error.message.includes(text), error.message);
    return true;
  });
  const [before, behind] = [await world.history(damaged.key, 0, first - 1), await world.history(damaged.key, last + 1)];
  const lost = fixes.slice(0, positions).filter(({ time }) => time >= first && time <= last).length;
  assert.equal(before.length + behind.length, positions - lost);
  await world.compare(other.key, fixes.slice(0, positions), "of the other device");
  // It goes on to report, and what it reports is sealed; what late reports change is folded into the blocks around.
  const admitted = await world.admitted(damaged.id);
  await world.deliver(admitted, fixes.slice(positions));
  await world.deliver(admitted, [{ ...(fixes[positions - 1] ?? assert.fail()), course: 7 }]);
  await world.store.seal(damaged.key);
  await world.store.seal(damaged.key);
  assert.equal(world.store.sealing.tailPositions, 0);
  assert.equal((await world.history(damaged.key, last + 1)).length, behind.length + some + 1);
});

test("a damaged block that late reports lie in is told once in the log, and sealing goes on", async (context) => {
  const { world, fixes, damaged } = await sealedWorld();
  context.after(() => removeFolder(world.place));
  const { first, last } = damage(world.place, damaged.key);
  const database = new DatabaseSync(join(world.place, "waybeam.db"));
  // Something that changes a part of the block.
  const shift = new Uint8Array(Float64Array.of(first, 0, 9_000_000, 1000, 0).buffer);
  database
    .prepare("insert into shifts (device, seq, since, count, data) values (?, 9000000, ?, 1, ?)")
    .run(damaged.key, first, shift);
  database.close();
  const errors: object[] = [];
  await world.start({ ...silentLog, error: (fields) => void errors.push(fields) });
  context.after(() => world.stop());
  const admitted = await world.admitted(damaged.id);
  await world.deliver(admitted, fixes.slice(positions));
  await world.store.seal(damaged.key);
  await world.store.seal(damaged.key);
  const [from, to] = [first, last].map((time) => new Date(time).toISOString());
  assert.equal(world.store.sealing.damaged, 1);
  assert.equal(world.store.sealing.tailPositions, 0);
  const told = errors.filter((fields) => "from" in fields);
  assert.equal(told.length, 1);
  assert.partialDeepStrictEqual(told[0], { device: damaged.key, from, to });
});

test("waybeam check tells a damaged block by device and time", async (context) => {
  const { world, damaged } = await sealedWorld();
  context.after(() => removeFolder(world.place));
  const options = { directory: world.place, secretFile: undefined, pid: process.pid };
  const work = { signal: context.signal, progress: () => {} };
  const whole = await check(options, work);
  assert.deepEqual(whole.findings, []);
  assert.equal(whole.positions, 2 * positions);
  const { first, last } = damage(world.place, damaged.key);
  const { findings } = await check(options, work);
  assert.deepEqual(
    findings.map(({ device, range }) => ({ device, range })),
    [{ device: damaged.id, range: { from: first, to: last } }],
  );
  assert.match(findings[0]?.problem ?? "", /^block \d+ with \d+ positions is damaged: .*checksum/);
});

test("a changed bit in a device's state is told by `waybeam check`, and no wrong position or total is given out", async (context) => {
  const { world, fixes, damaged, other } = await sealedWorld();
  context.after(() => removeFolder(world.place));
  const options = { directory: world.place, secretFile: undefined, pid: process.pid };
  change(world.place, (database) => {
    const data = database.prepare("select data from device_state where device = ?").get(damaged.key)?.data;
    assert.ok(data instanceof Uint8Array);
    // A bit of the last position, somewhere in the midst.
    data[50] = (data[50] ?? 0) ^ 1;
    database.prepare("update device_state set data = ? where device = ?").run(data, damaged.key);
  });
  const { findings } = await check(options, { signal: context.signal, progress: () => {} });
  assert.deepEqual(
    findings.map(({ device }) => device),
    [damaged.id],
  );
  assert.match(findings[0]?.problem ?? "", /^its state .* is damaged/);
  await world.start();
  context.after(() => world.stop());
  await assert.rejects(world.store.locations.states([damaged.key]), (error) => {
    assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged");
    assert.match(error.message, new RegExp(`state of device ${damaged.key}\\b`));
    return true;
  });
  // Its positions are all there, and another device reports as before.
  await world.compare(damaged.key, fixes.slice(0, positions), "of the damaged device");
  await world.deliver(await world.admitted(other.id), fixes.slice(positions));
  await world.compare(other.key, fixes, "of the other device");
});

/** The database of a service that is stopped. */
function change(directory: string, work: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  work(database);
  database.close();
}

const secondBlock = (device: number) =>
  `select seq from block where device = ${device} order by first limit 1 offset 1`;

const damages: Readonly<Record<string, (damaged: number, other: number) => string>> = {
  "another device's block in its place": (damaged, other) =>
    `update block_data set data = (select data from block_data where seq = (${secondBlock(other)})) where seq = (${secondBlock(damaged)})`,
  "its bytes gone": (damaged) => `delete from block_data where seq = (${secondBlock(damaged)})`,
  "its bytes zeroed": (damaged) =>
    `update block_data set data = zeroblob(length(data)) where seq = (${secondBlock(damaged)})`,
  "its bytes cut short": (damaged) =>
    `update block_data set data = substr(data, 1, 20) where seq = (${secondBlock(damaged)})`,
  "a count that lies": (damaged) => `update block set count = 100000000 where seq = (${secondBlock(damaged)})`,
  "a row number that leaves no room for more": (damaged) =>
    `update block set as_of = 9e18, first = 5 where seq = (${secondBlock(damaged)})`,
  "a time that no calendar has": (damaged) => `update block set last = 1e18 where seq = (${secondBlock(damaged)})`,
  "sums of late reports that are no numbers": (damaged) =>
    `insert into shifts (device, seq, since, count, data) values (${damaged}, 9000000, 0, 1, x'010203')`,
  "totals of late reports that are no records": (damaged) =>
    `insert into patch (device, seq, first, last, count, data) values (${damaged}, 9000000, 0, 9e15, 1, x'ffffffffffffffff')`,
};

for (const [name, sql] of Object.entries(damages))
  test(`damage costs its device alone, is told as such and stops nothing: ${name}`, async (context) => {
    const { world, fixes, damaged, other } = await sealedWorld();
    context.after(() => removeFolder(world.place));
    change(world.place, (database) => database.exec(sql(damaged.key, other.key)));
    const work = { signal: context.signal, progress: () => {} };
    const { findings } = await check({ directory: world.place, secretFile: undefined, pid: process.pid }, work);
    assert.ok(findings.some(({ device }) => device === damaged.id));
    assert.ok(!findings.some(({ device }) => device === other.id));
    await world.start();
    context.after(() => world.stop());
    await assert.rejects(world.history(damaged.key), (error) => {
      assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged", `${name}: ${error}`);
      assert.match(error.message, new RegExp(`device ${damaged.key}\\b`));
      return true;
    });
    await world.compare(other.key, fixes.slice(0, positions), "of the other device");
    // Late reports of both come in one batch.
    const late = { ...(fixes[positions / 4] ?? assert.fail()), course: 361 };
    const [mine, others] = [await world.admitted(damaged.id), await world.admitted(other.id)];
    world.ingest.submit(mine, [late], late.time + 1, () => undefined);
    await world.deliver(others, [late]);
    await world.compare(other.key, [...fixes.slice(0, positions), late], "with a late report");
    await world.deliver(mine, fixes.slice(positions, positions + 5)).catch(() => undefined);
    await world.store.seal(damaged.key);
    await world.store.seal(other.key);
    await world.compare(other.key, [...fixes.slice(0, positions), late], "sealed");
  });

test("a row that is gone does not take those with it that were to be sealed together", async (context) => {
  const { world, fixes, damaged } = await sealedWorld();
  context.after(() => removeFolder(world.place));
  await world.start();
  context.after(() => world.stop());
  const admitted = await world.admitted(damaged.id);
  const tail = fixes.slice(positions, positions + some);
  for (const [index] of tail.entries()) await world.deliver(admitted, tail.slice(index, index + 1));
  change(world.place, (database) =>
    database.exec(
      `delete from tail where seq = (select seq from tail where device = ${damaged.key} order by seq limit 1)`,
    ),
  );
  await world.store.seal(damaged.key);
  await world.store.seal(damaged.key);
  assert.equal(
    (await world.history(damaged.key, (tail[1]?.time ?? 0) + 1)).length,
    tail.filter(({ time }) => time > (tail[1]?.time ?? 0)).length,
  );
});

test("blocks whose rows name impossible times are told soon after the start: their positions are found no more", async (context) => {
  const { world, damaged, other } = await sealedWorld();
  context.after(() => removeFolder(world.place));
  const database = new DatabaseSync(join(world.place, "waybeam.db"));
  const rows = database.prepare("select seq from block where device = ? order by first").all(damaged.key);
  const changes = ["first = 9e18", "last = first - 1", "first = -9e18, last = -8e18", "count = 0"];
  for (const [at, change] of changes.entries())
    database.prepare(`update block set ${change} where seq = ?`).run(rows[at + 1]?.seq ?? 0);
  database.close();
  const told: unknown[] = [];
  const error = (fields: object) => void told.push("device" in fields && fields.device);
  await world.start({ ...silentLog, error });
  context.after(() => world.stop());
  await world.store.whole();
  assert.deepEqual(told, Array(changes.length).fill(damaged.key));
  assert.equal(world.store.sealing.damaged, changes.length);
  assert.equal((await world.history(other.key)).length, positions);
});
