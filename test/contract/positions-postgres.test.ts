import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PositionStore } from "../../src/ports/positions.ts";
import { bucketOf } from "../../src/ports/processes.ts";
import { openPostgresPositions } from "../../src/store/positions/postgres/open.ts";
import { parseUrl } from "../../src/store/postgres/url.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { silentLog } from "../support/silent-log.ts";
import { everything, readAll, said, sortedOnce, unlocated } from "./positions/said.ts";
import { unfollowedOf } from "./positions/unfollowed.ts";
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

  /** The names of the months' partitions, the first of them first. */
  const monthsIn = async (url: string) =>
    (
      await ask(
        url,
        "select relid::text as name from pg_partition_tree('position') where isleaf and relid::text <> 'position_default' order by 1",
      )
    ).map(({ name }) => String(name));
  /** A moment in the middle of a month that was so many months ago. */
  const ago = (months: number) => {
    const now = new Date();
    return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 15);
  };
  const monthOf = (time: number) => `position_${new Date(time).toISOString().slice(0, 7).replace("-", "_")}`;

  it("of a month that no device keeps go with it; of another month those go that nobody keeps", async () => {
    const url = await database();
    const store = await opened(url);
    const before = await monthsIn(url);
    const records = [5, 4, 3].map((months) => said(0, { time: ago(months), receivedAt: ago(months) }));
    await store.append([1, 2].map((device) => ({ device, records })));
    for (const device of [1, 2]) await store.deleteBefore(device, ago(4));
    await store.deleteBefore(1, ago(2));
    assert.deepEqual((await readAll(store, 1)).records, []);
    await store.deleteOld();
    const left = before.filter((name) => name !== monthOf(ago(5)));
    assert.deepEqual(await monthsIn(url), left);
    assert.deepEqual((await readAll(store, 2)).records, records.slice(1));
    const [{ rows } = {}] = await ask(url, "select count(*)::int as rows from position");
    assert.equal(rows, 2);
    // What comes of such a month is in the default partition, hidden and deleted.
    await store.append([{ device: 3, records }]);
    await store.append([{ device: 1, records }]);
    await store.deleteOld();
    assert.deepEqual((await readAll(store, 3)).records, records);
    assert.deepEqual((await readAll(store, 1)).records, []);
    const [{ more } = {}] = await ask(url, "select count(*)::int as more from position where device = 1");
    assert.equal(more, 0);
    await store.close();
    const again = await opened(url);
    assert.deepEqual(await monthsIn(url), left);
    await again.close();
  });

  it("that came while their month was dropped stay, also over a kill", async () => {
    const url = await database();
    const store = await opened(url);
    const records = [said(0, { time: ago(5), receivedAt: ago(5) })];
    await store.append([{ device: 1, records }]);
    await store.deleteBefore(1, ago(4));
    await store.append([{ device: 2, records }]);
    await ask(url, `alter table position detach partition ${monthOf(ago(5))}`);
    assert.deepEqual((await readAll(store, 2)).records, []);
    await store.deleteOld();
    assert.deepEqual((await readAll(store, 2)).records, records);
    assert.ok(!(await monthsIn(url)).includes(monthOf(ago(5))));
    // Whoever looked for them in between has not found them.
    const pending = await ask(url, "select devices, first, last from position_pending where holder is null");
    assert.deepEqual(pending, [{ devices: ["2"], first: [ago(5)], last: [ago(5)] }]);
    await store.close();
  });

  it("of a silent device go up to the day that it keeps", async () => {
    const url = await database();
    const store = await opened(url);
    const records = [0, 1].map((days) => {
      const time = ago(5) + days * 86_400_000;
      return said(0, { time, receivedAt: time });
    });
    await store.append([1, 2].map((device) => ({ device, records })));
    await store.append([{ device: 2, records: [said(0, { time: ago(3), receivedAt: ago(3) })] }]);
    for (const device of [1, 2]) await store.deleteBefore(device, ago(5) + 86_400_000);
    await store.deleteOld();
    const left = await ask(
      url,
      "select device::int as device, count(*)::int as rows from position group by 1 order by 1",
    );
    assert.deepEqual(left, [
      { device: 1, rows: 1 },
      { device: 2, rows: 3 },
    ]);
    await store.close();
  });

  it("of a clock that is ahead have their month when it comes", async () => {
    const url = await database();
    const before = await opened(url);
    const now = Date.now();
    const records = [0, 1, 2, 3, 40].map((ahead) => said(0, { time: ago(-ahead), receivedAt: now }));
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

/** A process among others on one database, and what it follows, which the test sets. */
async function processOn(url: string, name: string, ...buckets: readonly number[]) {
  const own = new Set(buckets);
  const parsed = parseUrl(`${url}?sslmode=disable`);
  assert.ok("address" in parsed);
  const processes = { name, follows: (device: number) => own.has(bucketOf(device)) };
  return { store: await openPostgresPositions(parsed.address, { log: silentLog, processes }), own };
}

describe("positions of several processes", { skip }, () => {
  const append = (store: PositionStore, device: number, ...seconds: readonly number[]) =>
    store.append([{ device, records: seconds.map((second) => said(second)) }]);
  const span = (second: number) => ({ from: said(second).time, to: said(second).time });

  it("are told to the one that follows the device, once, whoever appended them", async () => {
    const url = await database();
    const [{ store: one }, { store: other }] = [await processOn(url, "one", 1), await processOn(url, "other", 2)];
    await one.append([1, 2].map((device) => ({ device, records: [said(device)] })));
    await append(other, 1, 3);
    assert.deepEqual(await unfollowedOf(one, 1, "new"), [span(3)]);
    assert.deepEqual(await unfollowedOf(other, 2, "new"), [span(2)]);
    for (const how of ["new", "all"] as const)
      for (const device of [1, 2])
        for (const store of [one, other]) assert.deepEqual(await unfollowedOf(store, device, how), []);
    assert.deepEqual(await one.pending([2, 3, 1]), [span(2), undefined, { from: said(1).time, to: said(3).time }]);
    one.followed(await one.append([]));
    await one.left([], true);
    assert.deepEqual(await other.pending([1, 2]), [undefined, span(2)]);
    await one.close();
    await other.close();
  });

  it("that a process followed and had not noted are the next one's, however often a share moves", async () => {
    const url = await database();
    const [one, other] = [await processOn(url, "one", 1), await processOn(url, "other")];
    const first = await append(one.store, 1, 1);
    await append(one.store, 1, 2);
    one.store.followed(first);
    one.own.delete(1);
    await one.store.left([1], false);
    // What is followed after that is not followed by whoever has the share.
    one.store.followed(await one.store.append([]));
    await one.store.left([], true);
    other.own.add(1);
    assert.deepEqual(await unfollowedOf(other.store, 1), [span(2)]);
    other.own.delete(1);
    await other.store.left([1], false);
    one.own.add(1);
    assert.deepEqual(await unfollowedOf(one.store, 1), [span(2)]);
    one.own.delete(1);
    await one.store.left([1], true);
    assert.deepEqual(await one.store.pending([1]), [undefined]);
    await one.store.close();
    await other.store.close();
  });

  it("that come while a share moves are nobody's until its next one looks", async () => {
    const url = await database();
    const [one, other] = [await processOn(url, "one", 1), await processOn(url, "other")];
    const appending = append(one.store, 1, 1);
    one.own.delete(1);
    other.own.add(1);
    await appending;
    assert.deepEqual(await unfollowedOf(other.store, 1, "new"), [span(1)]);
    one.store.followed(await one.store.append([]));
    await one.store.left([], true);
    assert.deepEqual(await one.store.pending([1]), [span(1)]);
    await one.store.close();
    await other.store.close();
  });

  it("whose answer was lost are told all the same", async () => {
    const url = await database();
    const { store } = await processOn(url, "one", 1);
    await append(store, 1, 1);
    await ask(
      url,
      "insert into position_pending select bucket, commit + 1000, holder, devices, first, last from position_pending",
    );
    assert.deepEqual(await unfollowedOf(store, 1, "new"), []);
    assert.deepEqual(await unfollowedOf(store, 1, "all"), [span(1)]);
    assert.deepEqual(await unfollowedOf(store, 1, "all"), []);
    store.followed(await store.append([]));
    await store.left([], true);
    assert.deepEqual(await ask(url, "select * from position_pending"), []);
    await store.close();
  });
});
