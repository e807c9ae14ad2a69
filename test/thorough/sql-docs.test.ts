import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { distanceKm } from "../../src/geo/distance.ts";
import { noPostgres, PostgresServer } from "../support/postgres.ts";
import { call, dataFolder, register, removeFolder, type Service, startService } from "../support/service.ts";

/** What the page has to be run, in its order. */
const statements = [
  ...readFileSync(join(import.meta.dirname, "../../docs/sql.md"), "utf8").matchAll(/^```sql\n(.*?)^```/gms),
].map(([, sql = ""]) => sql);
const range = { from: "2026-03-09T00:00:00Z", to: "2026-03-11T00:00:00Z" };
const days = ["2026-03-09", "2026-03-10"];

/** A report a minute of an hour of each day, northward, a kilometre a minute. */
const drive = days.flatMap((day, nth) =>
  Array.from({ length: 60 }, (_, minute) => ({
    time: Date.parse(`${day}T10:00:00Z`) + 60_000 * minute,
    latitude: 48 + (60 * nth + minute) * 0.009,
    battery: 100 - minute,
    ignition: minute % 2 === 0,
  })),
);

/** The statement of the page that has this in it, as Grafana fills it in. */
function statement(part: string): string {
  const found = statements.find((sql) => sql.includes(part));
  assert.ok(found !== undefined, part);
  return found
    .replaceAll("$__timeFilter(time)", `time between '${range.from}' and '${range.to}'`)
    .replaceAll("$device", "van");
}

describe("docs/sql.md", { skip: noPostgres }, () => {
  let server: PostgresServer;
  const folder = dataFolder();
  let service: Service;
  let reader: pg.Client;

  before(async () => {
    server = await PostgresServer.start();
    const url = await server.database();
    service = await startService(folder, { WAYBEAM_STORE_URL: url });
    await register(service, ["van", "truck"]);
    for (const { time, latitude, battery, ignition } of drive) {
      const query = new URLSearchParams({
        id: "van",
        lat: String(latitude),
        lon: "11",
        speed: "32",
        batt: String(battery),
        ignition: String(ignition),
      });
      query.set("timestamp", String(time / 1000));
      const { status } = await fetch(`http://127.0.0.1:${service.devicePort}/?${query}`);
      assert.equal(status, 200);
    }
    const database = new URL(url).pathname.slice(1);
    await server.ask(database, statement("create role"));
    await server.ask(database, statement("alter role"));
    const asReader = new URL(url);
    asReader.username = "grafana";
    reader = new pg.Client({ connectionString: asReader.href });
    await reader.connect();
  });
  after(async () => {
    await reader?.end();
    await service?.kill();
    removeFolder(folder);
    await server?.dispose();
  });

  it("names every column of the table, and the role reads no more than it says", async () => {
    const { fields } = await reader.query("select * from position limit 0");
    const page = readFileSync(join(import.meta.dirname, "../../docs/sql.md"), "utf8");
    const named = [...page.matchAll(/^\| (`[^|]*) \| `/gm)].flatMap(([, names = ""]) => names.match(/\w+/g) ?? []);
    assert.deepEqual(named.toSorted(), [...fields.map(({ name }) => name), "key", "id", "name"].toSorted());
    await assert.rejects(reader.query("select tags from device"), /permission denied/);
    await assert.rejects(reader.query("delete from position"), /permission denied/);
  });

  it("lists devices, readings over time, the route, and the newest position of each device", async () => {
    const { rows: ids } = await reader.query(statement("select id from device"));
    assert.deepEqual(ids, [{ id: "truck" }, { id: "van" }]);
    const { rows: batteries } = await reader.query(statement("battery"));
    assert.deepEqual(
      batteries.map(({ time, battery }) => [time.getTime(), battery]),
      drive.map(({ time, battery }) => [time, battery]),
    );
    const ofDay = drive.filter(({ time }) => time >= Date.parse(range.from));
    const { rows: on } = await reader.query(
      statement("ignition").replace("device = 1", "device = (select key from device where id = 'van')"),
    );
    assert.deepEqual(
      on.map(({ time }) => time.getTime()),
      ofDay.filter(({ ignition }) => ignition).map(({ time }) => time),
    );
    const { rows: way } = await reader.query(statement("select time, latitude, longitude, speed\nfrom position"));
    assert.deepEqual(
      way.map(({ latitude }) => latitude),
      drive.map(({ latitude }) => latitude),
    );
    const { rows: fleet } = await reader.query(statement("lateral"));
    assert.deepEqual(
      fleet.map(({ id, time }) => [id, time.getTime()]),
      [["van", drive.at(-1)?.time]],
    );
  });

  it("gives the mileage by day that the API gives", async () => {
    const { rows } = await reader.query(statement("lag("));
    const { days: told } = await call<{ days: readonly { date: string; distance: number }[] }>(
      service,
      "POST",
      "/api/devices/van/days",
      { ...range, timeZone: "Etc/UTC" },
    );
    assert.equal(told.length, 2);
    for (const [nth, { distance }] of told.entries())
      assert.ok(Math.abs(rows[nth].km - distance) < 0.03 * distance, `${rows[nth].km} ${distance}`);
    const minute = distanceKm(48, 11, 48.009, 11);
    assert.ok(Math.abs(rows[0].km - 59 * minute) < 0.01, String(rows[0].km));
    assert.ok(Math.abs(rows[1].km - 60 * minute) < 0.01, String(rows[1].km));
  });
});
