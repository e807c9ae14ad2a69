import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { freshRecordOf } from "../src/ingest/fresh-record.ts";
import type { Fix } from "../src/model/effects.ts";
import { createLog } from "../src/observe/index.ts";
import { openSqlitePositions, type SqlitePositions } from "../src/store/positions/sqlite/open.ts";
import { dataFolder, removeFolder } from "../test/support/service.ts";
import { carReadings, drive, noReadings, type Reported } from "./support/drive.ts";
import type { Figure } from "./support/figures.ts";

const devices = 10;
/** A day of one report in ten seconds, one a packet. */
const positions = 8640;
const everyMs = 10_000;
/** What waits so long is packed, however little it is: half an hour. */
const packEach = 1_800_000 / everyMs;

interface Kind {
  readonly name: string;
  readonly most: number;
  readings(at: number): Reported;
}

const kinds: readonly Kind[] = [
  { name: "without readings", most: 12, readings: noReadings },
  { name: "with 13 readings", most: 20, readings: carReadings },
];

/** Stores a day of each device, as its reports come, and packs it as time goes by. Gives what was stored. */
async function fill(store: SqlitePositions, kind: Kind): Promise<readonly (readonly Fix[])[]> {
  const days = Array.from({ length: devices }, () => [...drive(positions, everyMs, kind.readings)]);
  for (let at = 0; at < positions; at++) {
    const batch = days.flatMap((fixes, place) => {
      const fix = fixes[at];
      return fix === undefined
        ? []
        : [{ device: place + 1, records: [freshRecordOf(fix, fix.time, fix.time + 800, false)] }];
    });
    store.followed(await store.append(batch));
    if ((at + 1) % packEach === 0) await store.pack();
  }
  return days;
}

/** Bytes of whole pages that blocks and their index take. */
function bytesOf(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  const { bytes } =
    database.prepare("select sum(pgsize) as bytes from dbstat where name in ('block', 'block_place')").get() ?? {};
  database.close();
  return Number(bytes);
}

/** The same positions as rows of a table, as who begins would store them. */
function plainRows(days: readonly (readonly Fix[])[]): number {
  const database = new DatabaseSync(":memory:");
  database.exec(
    "create table position (device integer, time integer, latitude real, longitude real, altitude real, speed real, course real, extras text, primary key (device, time)) without rowid",
  );
  const insert = database.prepare("insert into position values (?, ?, ?, ?, ?, ?, ?, ?)");
  database.exec("begin");
  for (const [device, fixes] of days.entries())
    for (const { time, latitude, longitude, altitude = 0, speed = 0, course = 0, readings, attributes } of fixes) {
      const extras = JSON.stringify({ ...readings, ...attributes });
      insert.run(device, time, latitude, longitude, altitude, speed, course, extras === "{}" ? null : extras);
    }
  database.exec("commit");
  const { bytes } = database.prepare("select sum(pgsize) as bytes from dbstat where name = 'position'").get() ?? {};
  database.close();
  return Number(bytes);
}

function csvUnderZstd(days: readonly (readonly Fix[])[]): number {
  const lines = days.flatMap((fixes, device) =>
    fixes.map(({ time, latitude, longitude, altitude, speed, course, readings, attributes }) =>
      [device, time, latitude.toFixed(7), longitude.toFixed(7), altitude, speed, course]
        .concat(Object.values(readings).map(Number), Object.values(attributes).map(Number))
        .join(","),
    ),
  );
  return zstdCompressSync(`${lines.join("\n")}\n`).length;
}

async function sizeOf(kind: Kind): Promise<Figure> {
  const directory = dataFolder();
  const file = join(directory, "positions.db");
  const store = await openSqlitePositions({ file, log: createLog("silent") });
  try {
    const days = await fill(store, kind);
    await store.pack();
    const { blocks, blockRecords } = store.figures();
    // The log's pages are moved into the database by its close.
    await store.close();
    const [rows, csv] = [plainRows(days), csvUnderZstd(days)].map((bytes) =>
      (bytes / (devices * positions)).toFixed(1),
    );
    return {
      name: `size, a packed position ${kind.name}`,
      value: bytesOf(file) / blockRecords,
      unit: "bytes",
      limit: kind.most,
      bound: "under",
      made: `${blocks} blocks of ${blockRecords} positions; plain rows ${rows}, CSV under zstd ${csv}`,
    };
  } finally {
    await store.close();
    removeFolder(directory);
  }
}

/** Bytes on disk for each position of a fleet's day. */
export async function size(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const kind of kinds) figures.push(await sizeOf(kind));
  return figures;
}
