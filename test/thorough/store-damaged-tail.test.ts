import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { placeBefore } from "../../src/model/location.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { append, batchOf, everything, readAll, record } from "../contract/store/records.ts";
import { dataFolder, removeFolder } from "../support/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { openStore } from "../support/store.ts";

const records = Array.from({ length: 4 }, (_, at) => record(at + 1));

/** Octets within a record of the tail, and what they belong to: src/store/records/record-codec.ts. */
const places: Readonly<Record<string, (length: number) => number>> = {
  "the quote before an attribute": (length) => length - 1 - '"satellites":"4"'.length + 1,
  latitude: () => 24 + 6,
  "the content key": () => 16,
};

for (const [what, placeOf] of Object.entries(places))
  test(`a changed bit of a record in the tail is told as damage and never given as a record: ${what}`, async (context) => {
    const directory = dataFolder();
    const told: object[] = [];
    const log = { ...silentLog, error: (fields: object) => void told.push(fields) };
    const store = await openStore(directory, log);
    context.after(async () => {
      await store.close();
      removeFolder(directory);
    });
    const account = await makeAccount(store);
    const [{ key: damaged }, { key: other }] = [
      await makeDevice(store, account.key),
      await makeDevice(store, account.key),
    ];
    for (const key of [damaged, other]) {
      await store.locations.commit(batchOf(append(key, 1, records.slice(0, 3))));
      await store.locations.commit(batchOf(append(key, 2, records.slice(3))));
    }
    const whole = await readAll(store, other, everything);
    assert.deepEqual(await readAll(store, damaged, everything), whole);
    flip(directory, damaged, placeOf);
    const tellsDamage = (error: unknown) => {
      assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged", String(error));
      assert.match(error.message, new RegExp(`device ${damaged}\\b.*checksum`));
      return true;
    };
    await assert.rejects(readAll(store, damaged, everything), tellsDamage);
    await assert.rejects(readAll(store, damaged, { ...everything, readings: true }), tellsDamage);
    await assert.rejects(store.locations.context(damaged, placeBefore(record(5).time), 2), tellsDamage);
    const before = await readAll(store, damaged, { ...everything, to: record(3).time });
    assert.equal(before.count, 3);
    // In a block with a right checksum it would look whole.
    await store.seal(damaged);
    await store.seal(other);
    assert.equal(store.sealing.damaged, 1);
    assert.partialDeepStrictEqual(told, [{ device: damaged, positions: 1 }]);
    await assert.rejects(readAll(store, damaged, everything), tellsDamage);
    assert.deepEqual(await readAll(store, other, everything), whole);
  });

test("a row of the tail whose length can't be read is told as damage of its device, and the store opens for all others", async (context) => {
  const directory = dataFolder();
  context.after(() => removeFolder(directory));
  const store = await openStore(directory);
  const account = await makeAccount(store);
  const [{ key: damaged }, { key: other }] = [
    await makeDevice(store, account.key),
    await makeDevice(store, account.key),
  ];
  const first = append(damaged, 1, records.slice(0, 3));
  for (const key of [damaged, other]) await store.locations.commit(batchOf(append(key, 1, records.slice(0, 3))));
  const whole = await readAll(store, other, everything);
  await store.close();
  shorten(directory, damaged);
  const again = await openStore(directory);
  context.after(() => again.close());
  assert.deepEqual(await readAll(again, other, everything), whole);
  await assert.rejects(readAll(again, damaged, everything), (error) => {
    assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged", String(error));
    return true;
  });
  assert.equal(await again.locations.commit(batchOf(append(other, 2, records.slice(3)))), undefined);
  // Its state is whole, so that it goes on.
  assert.deepEqual(await again.locations.states([damaged]), [first.state]);
  assert.equal(await again.locations.commit(batchOf(append(damaged, 2, records.slice(3)))), undefined);
});

/** Changes one bit in a row of a device's tail, in the length of the row: its data do not end where it ends. */
function shorten(directory: string, device: number): void {
  const file = join(directory, "waybeam.db");
  const database = new DatabaseSync(file);
  const { seq } = database.prepare("select seq from tail where device = ?").get(device) ?? {};
  const page = Number(database.prepare("select rootpage from sqlite_master where name = 'tail'").get()?.rootpage);
  const size = Number(database.prepare("pragma page_size").get()?.page_size);
  database.close();
  const bytes = readFileSync(file);
  const start = (page - 1) * size;
  // The only page of the table is a leaf: https://www.sqlite.org/fileformat2.html#b_tree_pages
  assert.equal(bytes[start], 13);
  for (let cell = 0; cell < bytes.readUInt16BE(start + 3); cell++) {
    let at = start + bytes.readUInt16BE(start + 8 + 2 * cell);
    // The length of the row has two octets, its number one.
    while ((bytes[at] ?? 0) > 127) at++;
    if (bytes[at + 1] !== seq) continue;
    bytes[at] = (bytes[at] ?? 0) ^ 2;
    writeFileSync(file, bytes);
    return;
  }
  assert.fail("the row is not found");
}

/** Changes one bit in the last row of a device's tail. */
function flip(directory: string, device: number, placeOf: (length: number) => number): void {
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  const { seq = 0, data } =
    database.prepare("select seq, data from tail where device = ? order by seq desc limit 1").get(device) ?? {};
  assert.ok(data instanceof Uint8Array);
  const at = placeOf(data.length);
  data[at] = (data[at] ?? 0) ^ 1;
  database.prepare("update tail set data = ? where seq = ?").run(data, seq);
  database.close();
}
