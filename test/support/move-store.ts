import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { commitAlerts, newAlert, newNotice, webhook } from "../contract/store/alert-values.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "./any-order.ts";
import { folderOf } from "./service.ts";
import { silentLog } from "./silent-log.ts";
import { openStore, secretsOf } from "./store.ts";

/** Text that PostgreSQL does not hold as it is, and what the store writes in its place. */
export const oddText = "a\0b\u{10ffff}c\u{10ffff}0 ñ \\u0000";

/** Rows that a service seldom has: texts, numbers and gaps at the edges of what the engines hold. */
export async function addOddRows(directory: string): Promise<void> {
  const store = await openStore(directory, silentLog, secretsOf(directory));
  const account = await makeAccount(store);
  const { key: device } = await makeDevice(store, account.key);
  const odd = newAlert(device, 1, {
    text: oddText,
    facts: { value: 0.1 + 0.2, road: oddText },
    latitude: 5e-324,
    speed: null,
  });
  const notices = [
    newNotice(odd, { target: webhook, dueAt: Date.UTC(2100, 0) }),
    newNotice(odd, { state: "suppressed", reason: oddText }),
  ];
  await commitAlerts(store, device, [odd, newAlert(device, 2)], notices);
  await store.close();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  database.exec(`insert into device_results values (1, '2001-01-01', 9007199254740991), (1, '2001-01-02', -5);
    insert into account_quota (account, users) values (77, null);
    update alert set key = 4611686018427 where key = 2;
    delete from alert where key = 4611686018427;
    insert into refused (device, received_at, time, cause, report) values (999, 2, 3, 'odd', '');
    update sqlite_sequence set seq = 41 where name = 'command';
    insert into setting values ('odd', 'x')`);
  database.prepare("update setting set value = ? where name = 'odd'").run(oddText);
  database.prepare("update refused set report = ? where cause = 'odd'").run(oddText.repeat(1000));
  database.close();
}

/** A stopped data folder with positions, late ones among them, and odd rows. Its secrets are sealed by its key. */
export async function oddFolder(context: TestContext, devices = 2): Promise<string> {
  const directory = folderOf(context);
  const world = new World(directory, (place, log) => openStore(place, log, secretsOf(place)));
  await world.start();
  const account = await makeAccount(world.store);
  for (let made = 0; made < devices; made++) {
    const { id } = await makeDevice(world.store, account.key);
    const fixes = drive(chance(made), 1600);
    const late = fixes.filter((_, index) => index % 97 === 5 && index < 1500);
    const admitted = await world.admitted(id);
    await world.deliver(
      admitted,
      fixes.filter((fix) => !late.includes(fix)),
    );
    await world.deliver(admitted, late);
  }
  await world.stop();
  await addOddRows(directory);
  return directory;
}

/** All that a folder's database holds, as texts: rows with their exact values, and what it is made of. */
export function contentOf(directory: string): ReadonlyMap<string, readonly string[]> {
  const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  const made = database
    .prepare("select type, name, sql from sqlite_master where name not like 'sqlite%' order by type, name")
    .all();
  const content = new Map([["schema", made.map((row) => JSON.stringify(row))]]);
  const tables = [...made.filter(({ type }) => type === "table").map(({ name }) => String(name)), "sqlite_sequence"];
  for (const table of tables) {
    const rows = database.prepare(`select * from "${table}"`);
    rows.setReadBigInts(true);
    const texts = rows.all().map((row) =>
      JSON.stringify(row, (_, value: unknown) => {
        if (typeof value === "bigint") return `${value}n`;
        return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
      }),
    );
    content.set(table, texts.filter((text) => !text.startsWith('{"name":"service"')).toSorted());
  }
  database.close();
  return content;
}

/** Fails where two folders do not hold the same. */
export function assertSame(one: string, other: string): void {
  const [first, second] = [contentOf(one), contentOf(other)];
  assert.deepEqual([...second.keys()], [...first.keys()]);
  for (const [table, rows] of first) assert.deepEqual(second.get(table), rows, table);
}
