import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openPostgresPositions } from "../../src/store/positions/postgres/open.ts";
import { parseUrl } from "../../src/store/postgres/url.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";
import { everything, readAll, said, sortedOnce, unlocated } from "./positions/said.ts";
import { positionContract } from "./positions.contract.ts";

const skip = noPostgres;
const server = skip ? undefined : await PostgresServer.start();

async function database(): Promise<string> {
  assert.ok(server);
  return server.database();
}

async function opened(url: string) {
  const parsed = parseUrl(`${url}?sslmode=disable`);
  assert.ok("address" in parsed);
  const store = await openPostgresPositions(parsed.address, { log: silentLog });
  return Object.assign(store, { settle: async () => {}, kill: async () => store.terminate() });
}

function ask(url: string, question: string) {
  assert.ok(server);
  return server.ask(new URL(url).pathname.slice(1), question);
}

positionContract(
  "PostgreSQL",
  async () => {
    const url = await database();
    return { open: () => opened(url), dispose: async () => {} };
  },
  { skip },
);

describe("positions in PostgreSQL", { skip }, () => {
  it("are rows that any SQL tool reads", async () => {
    const url = await database();
    const store = await opened(url);
    const extras = ',"battery":85,"attributes":{"hdop":"0.9"';
    await store.append([{ device: 7, records: [said(0, { extras }), unlocated(1)] }]);
    const rows = await ask(
      url,
      "select device, time at time zone 'utc' as time, latitude, speed, readings->>'battery' as battery, readings->'attributes'->>'hdop' as hdop from position order by time",
    );
    assert.deepEqual(
      rows.map((row) => [row.latitude, row.speed, row.battery, row.hdop]),
      [
        [4.5, 42, "85", "0.9"],
        [null, null, null, null],
      ],
    );
    await store.close();
  });

  it("of two processes that say the same, in other orders, are there once, and nobody waits in a ring", async () => {
    const url = await database();
    const stores = await Promise.all([opened(url), opened(url)]);
    const devices = Array.from({ length: 20 }, (_, at) => at + 1);
    const records = Array.from({ length: 100 }, (_, at) => said(at));
    await Promise.all(
      stores.flatMap((store, index) =>
        Array.from({ length: 10 }, (_, part) => {
          const own = records.slice(5 * part, 5 * part + 50);
          const batch = devices.map((device) => ({ device, records: index === 0 ? own : own.toReversed() }));
          return store.append(index === 0 ? batch : batch.toReversed());
        }),
      ),
    );
    for (const device of devices)
      for (const store of stores)
        assert.deepEqual((await readAll(store, device)).records, sortedOnce(records.slice(0, 95)));
    for (const store of stores) await store.close();
  });

  it("of a clock that is ahead have their month when it comes", async () => {
    const url = await database();
    const before = await opened(url);
    const now = Date.now();
    const month = 31 * 86_400_000;
    const records = [0, 1, 2, 3, 40].map((ahead) => said(0, { time: now + ahead * month, receivedAt: now }));
    await before.append([{ device: 1, records }]);
    // As if the partitions of the months from now on had never been made.
    await ask(
      url,
      `do $$ declare name text; begin
        for name in select relid::text from pg_partition_tree('position') where isleaf and relid::text <> 'position_default' loop
          execute format('alter table position detach partition %I', name);
          execute format('insert into position_default select * from %I', name);
          execute format('drop table %I', name);
        end loop;
      end $$`,
    );
    assert.deepEqual((await readAll(before, 1)).records, records);
    await before.close();
    const [one, other] = await Promise.all([opened(url), opened(url)]);
    assert.deepEqual((await readAll(one, 1)).records, records);
    const [{ left } = {}] = await ask(url, "select count(*)::int as left from position_default");
    assert.equal(left, 2);
    assert.equal((await other.read(1, { ...everything, limit: 2 })).records.length, 2);
    await one.close();
    await other.close();
  });
});
