import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import type { DeviceKey } from "../../src/model/device.ts";
import type { Fix } from "../../src/model/effects.ts";
import { deviceFields, makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { findingsOf, folder } from "../support/kept-states.ts";

const fixes = drive(chance(3), 2000);
const timeAt = (at: number) => fixes[at]?.time ?? assert.fail();

/** Two devices with the same reports: sealed ones, and 20 rows of the tail. `change`: what is damaged of the first one. */
async function damagedWorld(
  context: TestContext,
  change: (database: DatabaseSync, devices: readonly [DeviceKey, DeviceKey]) => void,
) {
  const world = new World(folder(context));
  await world.start();
  const account = await makeAccount(world.store);
  const [one, other] = [await makeDevice(world.store, account.key), await makeDevice(world.store, account.key)];
  for (const { id, key } of [one, other]) {
    const admitted = await world.admitted(id);
    for (let at = 0; at < 1600; at += 200) await world.deliver(admitted, fixes.slice(at, at + 200));
    await world.store.seal(key);
    for (let at = 1600; at < fixes.length; at += 20) await world.deliver(admitted, fixes.slice(at, at + 20));
  }
  await world.stop();
  const database = new DatabaseSync(join(world.place, "waybeam.db"));
  change(database, [one.key, other.key]);
  database.close();
  const told: string[] = [];
  await world.start(teller(told));
  context.after(() => world.stop());
  return { world, one, other, told };
}

function teller(told: string[]) {
  const quiet = () => {};
  const log = {
    ...{ debug: quiet, info: quiet, warn: quiet, child: () => log },
    error: (fields: object, message: string) => void told.push(`${JSON.stringify(fields)} ${message}`),
  };
  return log;
}

async function deleteAll({ ingest }: World, device: DeviceKey, before: number): Promise<number> {
  let deleted = 0;
  for (let more = true; more; ) {
    const step = await ingest.keeping.deleteBefore(device, before);
    deleted += step.positions;
    more = step.more;
  }
  return deleted;
}

/** What rows say of their times, by their ends. */
function rows({ place }: World, device: DeviceKey): readonly { readonly first: number; readonly last: number }[] {
  const database = new DatabaseSync(join(place, "waybeam.db"), { readOnly: true });
  const select = (table: string) => `select first, last from ${table} where device = ?1`;
  const found = database.prepare(`${select("tail")} union all ${select("block")} order by last`).all(device);
  database.close();
  return found.map(({ first, last }) => ({ first: Number(first), last: Number(last) }));
}

for (const table of ["tail", "block"])
  test(`a row of the table ${table} whose last time is damaged is not deleted for it`, async (context) => {
    const { world, one, told } = await damagedWorld(context, (database, [device]) => {
      // As if the youngest of the table ended with the oldest reports.
      const newest = `(select max(seq) from ${table} where device = ?)`;
      const sql = `update ${table} set first = ?, last = ? where seq = ${newest}`;
      assert.equal(database.prepare(sql).run(timeAt(1), timeAt(2), device).changes, 1);
    });
    // The chunk with the highest number of all stays anyhow.
    const last = fixes.at(-1) as Fix;
    await world.deliver(await world.admitted(one.id), [{ ...last, time: last.time + 60_000 }]);
    const before = timeAt(table === "tail" ? 1700 : 1000);
    assert.ok((await deleteAll(world, one.key, before)) > 0);
    const old = rows(world, one.key).filter(({ last }) => last < before);
    assert.equal(old.length, 2, "the damaged row, and the old one that ends last");
    assert.equal(old[0]?.last, timeAt(2));
    assert.equal(told.filter((line) => line.includes(`"device":${one.key}`)).length, 1, told.join("\n"));
    const [preview] = await world.store.locations.oldPositions([one.key], before);
    assert.equal(preview?.count, 0, "a preview no longer counts it");
    const findings = await findingsOf(world.place);
    assert.deepEqual([...new Set(findings.map(({ device }) => device))], [one.id]);
    assert.equal(findings.length, 1, JSON.stringify(findings));
  });

test("where the old row that seems to end last is damaged, the one that ends last of the others stays", async (context) => {
  let end = 0;
  const { world, one } = await damagedWorld(context, (database, [device]) => {
    const blocks = database.prepare("select seq, last from block where device = ? order by first").all(device);
    const [first, second] = blocks;
    end = Number(second?.last) + 1;
    database.prepare("update block set last = ? where seq = ?").run(end, first?.seq ?? 0);
  });
  const oldest = rows(world, one.key).filter(({ last }) => last <= end);
  assert.equal(oldest.length, 2);
  await deleteAll(world, one.key, end + 1);
  assert.deepEqual(
    rows(world, one.key).filter(({ last }) => last <= end),
    oldest,
  );
});

for (const sums of [true, false])
  test(`a block that damage gives to another device is not deleted with that one's old positions${sums ? "" : ", also where an older version wrote no checksum"}`, async (context) => {
    const { world, other } = await damagedWorld(context, (database, [device, other]) => {
      if (!sums) for (const table of ["tail", "block"]) database.exec(`update ${table} set crc = null`);
      database.prepare("delete from block where device = ? and first <= ?").run(other, timeAt(0));
      const oldest = "(select seq from block where device = ? order by first)";
      assert.equal(database.prepare(`update block set device = ? where seq = ${oldest}`).run(other, device).changes, 1);
    });
    const before = timeAt(1650);
    assert.ok((await deleteAll(world, other.key, before)) > 0);
    const old = rows(world, other.key).filter(({ last }) => last < before);
    assert.equal(old.length, 2);
    assert.equal(old[0]?.first, timeAt(0), "it is there");
    const [preview] = await world.store.locations.oldPositions([other.key], before);
    assert.equal(preview?.count, 0);
  });

test("days that nobody can have given are damage: one bit makes 0 of none, and nothing is deleted or hidden for that", async (context) => {
  const { world, one, other } = await damagedWorld(context, (database, devices) => {
    // In the head of a row the kind of a value is one octet: 0 for none, 8 for the number 0.
    database.prepare("update device set position_days = 0 where key = ?").run(devices[0]);
    database.prepare("update account set position_days = 40000").run();
  });
  const { devices, accounts } = world.store;
  assert.deepEqual(await devices.retained(0, 10), []);
  for (const { key, accountKey } of [one, other]) {
    assert.equal(await devices.daysOf(key), undefined);
    assert.equal((await devices.findByKey(key))?.positionDays, null);
    assert.equal((await accounts.find(accountKey))?.positionDays, null);
  }
  const found = (await findingsOf(world.place)).map(({ device, problem }) => `${device} ${problem}`);
  assert.deepEqual(found, [
    `${one.id} its positionDays is damaged: 0`,
    "undefined positionDays of account 1 is damaged: 40000",
  ]);
  await devices.replace(one.key, deviceFields({ id: one.id, positionDays: 30 }), one.creation);
  assert.deepEqual(await devices.retained(0, 10), [{ key: one.key, days: 30 }]);
});
