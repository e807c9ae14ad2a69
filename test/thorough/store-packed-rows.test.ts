import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { rowSum } from "../../src/store/records/row-sum.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { crashed, findingsOf, folder } from "../support/kept-states.ts";
import { unpackTail } from "../support/older-data.ts";
import { sealsByBytes } from "../support/packed-rows.ts";

const fixes = drive(chance(11), 400);
/** Few at a time, so that nothing is sealed meanwhile. */
const atOnce = 20;
const isLate = (at: number) => at % 9 === 4;
const early = fixes.filter((_, at) => !isLate(at));
const late = fixes.filter((_, at) => isLate(at));

function change<T>(directory: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  try {
    return work(database);
  } finally {
    database.exec("pragma user_version = 2");
    database.close();
  }
}

/** How many rows of the tail are packed, and how many are not. */
function kinds(directory: string) {
  const isPacked = "substr(data, 1, 4) = x'ffffffff'";
  return change(directory, (database) => ({
    ...database.prepare(`select total(${isPacked}) as packed, total(not ${isPacked}) as plain from tail`).get(),
  }));
}

/** Rows as the version before wrote them. `chosen`: which. */
function asBefore(directory: string, chosen: string): void {
  change(directory, (database) => {
    unpackTail(database, chosen);
    const sum = database.prepare("update tail set crc = ? where seq = ?");
    for (const { seq, device, first, last, count, data } of database.prepare("select * from tail").all()) {
      assert.ok(data instanceof Uint8Array);
      sum.run(rowSum([seq, device, first, last, count].map(Number), data), Number(seq));
    }
    database.exec("update tail set crc = null where seq % 5 = 0");
  });
}

for (const [what, chosen] of [
  ["all that earlier versions wrote", "true"],
  ["old and new ones mixed", "seq % 2 = 0"],
] as const)
  test(`rows of the tail that are packed and such as are not are read, changed, made states of, and sealed alike: ${what}`, async (context) => {
    const directory = folder(context);
    let world = new World(directory);
    await world.start();
    const account = await makeAccount(world.store);
    const { id, key } = await makeDevice(world.store, account.key);
    const admitted = await world.admitted(id);
    for (let at = 0; at < early.length; at += atOnce) await world.deliver(admitted, early.slice(at, at + atOnce));
    // As after a crash, so that the state is made of the rows.
    const copy = crashed(context, directory);
    const before = await world.history(key);
    await world.stop();
    const packed = kinds(copy);
    assert.ok(Number(packed.packed) > 10, JSON.stringify(packed));
    asBefore(copy, chosen);
    assert.ok(Number(kinds(copy).plain) > 5);
    assert.deepEqual(await findingsOf(copy), []);

    world = new World(copy);
    await world.start();
    context.after(() => world.stop());
    await world.compare(key, early, "after the start");
    assert.deepEqual(await world.history(key), before);
    const again = await world.admitted(id);
    // Reads around late reports, and writes new totals into rows of either kind.
    for (const one of late) await world.deliver(again, [one]);
    await world.compare(key, [...early, ...late], "with late reports");
    await world.deliver(again, early.slice(100, 150));
    await world.compare(key, [...early, ...late], "with repeats");
    await world.stop();
    assert.deepEqual(await findingsOf(copy), []);
    assert.ok(Number(kinds(copy).packed) > 0, "what is written anew is packed");
    await world.start();
    await world.store.seal(key);
    await world.compare(key, [...early, ...late], "sealed");
  });

test("the index knows the bytes of records, not of packed rows, also after a start", async (context) => {
  const world = new World(folder(context));
  await sealsByBytes(context, world);
});
