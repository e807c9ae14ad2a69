import assert from "node:assert/strict";
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
