import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { it } from "node:test";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { append, batchOf, record } from "../contract/store/records.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";
import { fill, noSmallDisk, smallDisk } from "../support/small-disk.ts";

const small = noPostgres ? undefined : smallDisk(160);

it("a full disk makes the store unavailable, and is no fault of what is written", {
  skip: noPostgres || (small === undefined && noSmallDisk),
}, async () => {
  assert.ok(small !== undefined);
  const server = await PostgresServer.start({ folder: small });
  const store = await openPostgres(await server.database());
  const { key } = await makeDevice(store, (await makeAccount(store)).key);
  const commit = (version: number) => {
    const records = Array.from({ length: 500 }, (_, index) => record(version * 500 + index));
    return store.locations.commit(batchOf(append(key, version, records)));
  };
  assert.equal(await commit(1), undefined);
  await store.check();
  const filler = fill(small);
  const isFull = (error: unknown) =>
    error instanceof StoreUnavailable && error.trouble === "down" && /No space left/.test(error.message);
  let version = 2;
  await assert.rejects(async () => {
    for (; ; version++) assert.equal(await commit(version), undefined);
  }, isFull);
  // A row of a check alone would still find room in some page.
  for (let checks = 0; checks < 3; checks++) await assert.rejects(store.check(), isFull);
  rmSync(filler);
  await store.check();
  assert.equal(await commit(version), undefined);
  await store.check();
  await store.close();
});
