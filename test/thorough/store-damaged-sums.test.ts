import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import type { Fix } from "../../src/model/effects.ts";
import { StoreUnavailable } from "../../src/ports/store.ts";
import { makeAccount, makeDevice } from "../contract/store/harness.ts";
import { chance, drive, World } from "../support/any-order.ts";
import { findingsOf } from "../support/kept-states.ts";
import { dataFolder, removeFolder } from "../support/service.ts";

const fixes = drive(chance(7), 900);
/** Sealed, then late among the sealed ones, then in order into the tail. */
const isLate = (at: number) => at % 90 === 40;
const sealed = fixes.slice(0, 800).filter((_, at) => !isLate(at));
const late = fixes.slice(0, 800).filter((_, at) => isLate(at));
const behind = fixes.slice(800, 890);

interface Made {
  readonly directory: string;
  readonly damaged: { readonly id: string; readonly key: number };
  readonly other: { readonly id: string; readonly key: number };
}
let made: Made;

before(async () => {
  const world = new World(dataFolder());
  await world.start();
  const account = await makeAccount(world.store);
  const devices = [await makeDevice(world.store, account.key), await makeDevice(world.store, account.key)];
  for (const { id, key } of devices) {
    const admitted = await world.admitted(id);
    for (let at = 0; at < sealed.length; at += 100) await world.deliver(admitted, sealed.slice(at, at + 100));
    await world.store.seal(key);
    // One by one, so that shifts are appended to shifts.
    for (const one of late) await world.deliver(admitted, [one]);
    for (let at = 0; at < behind.length; at += 30) await world.deliver(admitted, behind.slice(at, at + 30));
    // Totals that are written into the tail anew.
    await world.deliver(admitted, [{ ...(behind[40] ?? assert.fail()), course: 7 }]);
  }
  await world.stop();
  const [damaged, other] = devices;
  assert.ok(damaged && other);
  made = { directory: world.place, damaged, other };
});
after(() => removeFolder(made.directory));

/** A copy of the folder, with a statement run in it. */
function changed(sql: string, ...values: (number | Uint8Array)[]): string {
  const directory = dataFolder();
  cpSync(made.directory, directory, { recursive: true });
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  assert.equal(database.prepare(sql).run(...values).changes, 1, "something is changed");
  database.close();
  return directory;
}

/** A statement that changes one bit of the bytes of a row. */
function flipped(table: string, chosen: string, place: number): [string, Uint8Array] {
  const database = new DatabaseSync(join(made.directory, "waybeam.db"), { readOnly: true });
  const data = database.prepare(`select data from ${table} where rowid = (${chosen})`).get()?.data;
  database.close();
  assert.ok(data instanceof Uint8Array);
  const at = place < 0 ? data.length + place : place;
  data[at] = (data[at] ?? 0) ^ 4;
  return [`update ${table} set data = ? where rowid = (${chosen})`, data];
}

/** The newest of the rows with many records, which is packed. */
const packed = () => `select max(seq) from tail where device = ${made.damaged.key} and count > 20`;
const newest = (table: string) => `select max(rowid) from ${table} where device = ${made.damaged.key}`;
const set = (table: string, change: string) => () =>
  [`update ${table} set ${change} where rowid = (${newest(table)})`] as [string];
const flip = (table: string, place: number) => () => flipped(table, newest(table), place);

/** The same, where the damage took the checksum, too. */
const withoutSum = (make: () => [string, Uint8Array]) => (): [string, Uint8Array] => {
  const [sql, data] = make();
  return [sql.replace("set data = ?", "set data = ?, crc = null"), data];
};

const damages: Readonly<Record<string, () => [string, ...(number | Uint8Array)[]]>> = {
  // Of the first patch: its totals are 40 octets behind its begin.
  "the odometer of a patch": flip("patch", 44),
  "the time of a patch": flip("patch", 12),
  "the first time of a patch": set("patch", "first = first + (1 << 33)"),
  "the last time of a patch": set("patch", "last = last - (1 << 33)"),
  "the row number of a patch": set("patch", "seq = seq - 1"),
  "the sum of a shift": flip("shifts", 30),
  "the row number of a shift": flip("shifts", 20),
  "the last octet of the shifts": flip("shifts", -2),
  "since when there are shifts": set("shifts", "since = since + (1 << 33)"),
  "the row number of the shifts": set("shifts", "seq = seq + 16"),
  "the shifts gone": () => [`delete from shifts where device = ${made.damaged.key}`],
  "the odometer of a block": set("block", "odometer_mm = odometer_mm + 4096"),
  "the working hours of a block": set("block", "sensor1_ms = sensor1_ms + 64"),
  "the row number that a block is as of": set("block", "as_of = as_of + 4096"),
  "the odometer of a record of the tail": flip("tail", 44),
  "the time of a record of the tail": flip("tail", 12),
  "the arrival of a record of the tail": flip("tail", 62),
  "the mark of a packed row": () => flipped("tail", packed(), 1),
  "the length in a packed row": () => flipped("tail", packed(), 9),
  "the begin of what is packed": () => flipped("tail", packed(), 13),
  "the end of what is packed": () => flipped("tail", packed(), -2),
  "the mark of a packed row without a checksum": withoutSum(() => flipped("tail", packed(), 1)),
  "the length in a packed row without a checksum": withoutSum(() => flipped("tail", packed(), 9)),
  "the begin of what is packed in a row without a checksum": withoutSum(() => flipped("tail", packed(), 13)),
  "the first time of a packed row": () => [`update tail set first = first + (1 << 33) where seq = (${packed()})`],
  "the version of a state": set("device_state", "version = version + 1"),
  "the row number that a state is as of": set("device_state", "as_of = as_of - 1"),
};

for (const [what, change] of Object.entries(damages))
  test(`a changed bit is told by "waybeam check" and fails its device alone: ${what}`, async (context) => {
    const { damaged, other } = made;
    const directory = changed(...change());
    context.after(() => removeFolder(directory));
    const findings = await findingsOf(directory);
    assert.deepEqual([...new Set(findings.map(({ device }) => device))], [damaged.id], JSON.stringify(findings));
    const world = new World(directory);
    await world.start();
    context.after(() => world.stop());
    const read = () =>
      what.includes("a state") ? world.store.locations.states([damaged.key]) : world.history(damaged.key);
    const tells = (error: unknown) => {
      assert.ok(error instanceof StoreUnavailable && error.trouble === "damaged", String(error));
      assert.match(error.message, new RegExp(`device ${damaged.key}\\b`));
      return true;
    };
    await assert.rejects(read(), tells);
    await world.store.seal(damaged.key);
    await world.store.seal(other.key);
    await assert.rejects(read(), tells);
    const all = [...fixes.slice(0, 890), { ...(behind[40] ?? assert.fail()), course: 7 }];
    await compare(world, all, "sealed");
    await world.deliver(await world.admitted(other.id), fixes.slice(890));
    await compare(world, [...all, ...fixes.slice(890)], "with new reports");
  });

test("rows that older versions wrote without a checksum are read, sealed, and get one when they are written", async (context) => {
  const directory = changed("update tail set crc = null where seq = (select min(seq) from tail)");
  context.after(() => removeFolder(directory));
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  for (const table of ["tail", "block", "shifts", "patch", "device_state"])
    database.exec(`update ${table} set crc = null`);
  database.close();
  assert.deepEqual(await findingsOf(directory), []);
  const world = new World(directory);
  await world.start();
  context.after(() => world.stop());
  const { other } = made;
  const later = [sealed[300], sealed[500]].map((fix) => {
    const { time, latitude = 0, ...rest } = fix ?? assert.fail();
    return { ...rest, time: time + 500, latitude: latitude + 0.001 };
  });
  const all = [...fixes.slice(0, 890), { ...(behind[40] ?? assert.fail()), course: 7 }];
  const admitted = await world.admitted(other.id);
  await world.deliver(admitted, later.slice(0, 1));
  await compare(world, [...all, ...later.slice(0, 1)], "with a late report");
  const file = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  const without = (table: string) =>
    file.prepare(`select count(*) as n from ${table} where device = ? and crc is null`).get(other.key)?.n;
  assert.equal(without("shifts"), 0);
  assert.equal(without("device_state"), 0);
  assert.deepEqual(await findingsOf(directory), []);
  await world.store.seal(other.key);
  await compare(world, [...all, ...later.slice(0, 1)], "sealed");
  await world.deliver(admitted, later.slice(1));
  assert.deepEqual(await findingsOf(directory), []);
  // Those before the late reports were not written.
  assert.ok(
    Number(without("block")) <
      Number(file.prepare("select count(*) as n from block where device = ?").get(other.key)?.n),
  );
  file.close();
  await compare(world, [...all, ...later], "with another");
});

async function compare(world: World, delivered: readonly Fix[], what: string): Promise<void> {
  // As they came.
  const order = (fix: Fix) => (sealed.includes(fix) ? 0 : late.includes(fix) ? 1 : 2);
  const came = delivered.toSorted((one, other) => order(one) - order(other));
  await world.compare(made.other.key, came, `of the other device, ${what}`);
}
