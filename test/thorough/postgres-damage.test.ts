import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { day, emptyHead, firstDay } from "../contract/store/followed.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/postgres-store.ts";
import { silentLog } from "../support/silent-log.ts";

const flipped = (at: number) => `data = set_byte(data, ${at}, get_byte(data, ${at}) # 1)`;

describe("damage in PostgreSQL costs its device alone and is told as such", { skip: noPostgres }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });

  async function storeWith(told: object[]) {
    const url = await server.database();
    const store = await openPostgres(url, { ...silentLog, error: (fields) => void told.push(fields) });
    const { key: account } = await makeAccount(store);
    const devices = [(await makeDevice(store, account)).key, (await makeDevice(store, account)).key] as const;
    const days = [1, 2, 3].map((behind) => day(behind, 10));
    await store.follow.commit(devices.map((device) => ({ device, head: emptyHead, days })));
    const change = (sql: string) => server.ask(new URL(url).pathname.slice(1), sql);
    return { store, devices, days, change };
  }

  it("a bit of a head", async () => {
    const { store, devices, change } = await storeWith([]);
    const [damaged, other] = devices;
    await change(`update device_head set ${flipped(9)} where device = ${damaged}`);
    await assert.rejects(store.follow.heads(devices), (error) => {
      assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged");
      return error.message.includes(`the head of device ${damaged} is damaged`);
    });
    assert.deepEqual(await store.follow.heads([other]), [emptyHead]);
    await store.follow.commit([{ device: damaged, head: { ...emptyHead, rules: "anew" }, days: [] }]);
    assert.equal((await store.follow.heads([damaged]))[0]?.rules, "anew");
    await store.close();
  });

  it("a bit of a day", async () => {
    const told: object[] = [];
    const { store, devices, days, change } = await storeWith(told);
    const [damaged, other] = devices;
    const second = firstDay + 2;
    await change(`update device_day set ${flipped(20)} where device = ${damaged} and day = ${second}`);
    const read = (device: number, limit: number) => store.follow.days(device, { order: "first", limit });
    assert.deepEqual(await read(damaged, 2), [days[0], days[2]]);
    assert.deepEqual(told, [{ device: damaged, day: second, why: "its checksum is wrong" }]);
    assert.deepEqual(await read(other, 9), days);
    assert.equal((await store.follow.sumsBefore(damaged, firstDay + 9)).odometerMm, 30);
    await store.close();
  });
});
