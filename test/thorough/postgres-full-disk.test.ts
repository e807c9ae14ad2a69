import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { it } from "node:test";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { readAll, said } from "../contract/positions/said.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
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
  let appended = 0;
  const append = async () => {
    const extras = () => `,"attributes":{"note":"${randomBytes(100).toString("hex")}"`;
    const records = Array.from({ length: 500 }, (_, index) => said(appended + index, { extras: extras() }));
    await store.positions.append([{ device: key, records }]);
    appended += 500;
  };
  await append();
  await store.check();
  const filler = fill(small);
  const isFull = (error: unknown) =>
    error instanceof StoreUnavailable && error.trouble === "down" && /No space left/.test(error.message);
  await assert.rejects(async () => {
    for (;;) await append();
  }, isFull);
  // A row of a check alone would still find room in some page.
  for (let checks = 0; checks < 3; checks++) await assert.rejects(store.check(), isFull);
  rmSync(filler);
  await store.check();
  await append();
  await store.check();
  assert.equal((await readAll(store.positions, key)).records.length, appended);
  await store.close();
});
