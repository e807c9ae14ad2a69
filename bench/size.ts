import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { zstdCompressSync } from "node:zlib";
import { draftOf } from "../src/ingest/draft.ts";
import { ordered } from "../src/ingest/pending.ts";
import { planAppend } from "../src/ingest/plan.ts";
import type { Fix } from "../src/model/effects.ts";
import { neverReported } from "../src/model/location.ts";
import type { OpenedStore } from "../src/store/opened.ts";
import { makeAccount, makeDevice } from "../test/contract/store/harness.ts";
import { dataFolder, removeFolder } from "../test/support/service.ts";
import { openStore } from "../test/support/store.ts";
import { carReadings, drive, noReadings, type Reported } from "./support/drive.ts";
import type { Figure } from "./support/figures.ts";

const devices = 10;
/** A day of one report in ten seconds, one a packet. */
const positions = 8640;
const everyMs = 10_000;

/** Tables that hold positions. */
const tables = ["tail", "block", "block_data", "patch", "shifts", "spent"];

interface Kind {
  readonly name: string;
  readonly sealedMost: number;
  readonly dayMost: number;
  readings(at: number): Reported;
}

const kinds: readonly Kind[] = [
  { name: "without readings", sealedMost: 12, dayMost: 24, readings: noReadings },
  { name: "with 13 readings", sealedMost: 20, dayMost: 32, readings: carReadings },
];

/** Stores a day of each device, as its reports come, and gives what was stored. */
async function fill(store: OpenedStore, kind: Kind): Promise<readonly (readonly Fix[])[]> {
  const account = await makeAccount(store);
  const days: (readonly Fix[])[] = [];
  const keys: number[] = [];
  for (let made = 0; made < devices; made++) {
    keys.push((await makeDevice(store, account.key)).key);
    days.push([...drive(positions, everyMs, kind.readings)]);
  }
  const states = keys.map(() => neverReported);
  for (let at = 0; at < positions; at++) {
    const commits = keys.flatMap((device, place) => {
      const fix = days[place]?.[at];
      if (fix === undefined) return [];
      const drafts = ordered([draftOf(fix, fix.time, fix.time + 800, false)]);
      const { plan } = planAppend(states[place] ?? neverReported, drafts);
      states[place] = plan.state;
      return [{ device, ...plan }];
    });
    await store.locations.commit({ devices: commits, refused: [] });
  }
  while (store.sealing.waitingDevices > 0) await sleep(20);
  return days;
}

/** Bytes of whole pages that these tables take. */
function bytesOf(directory: string, names: readonly string[]): number {
  const database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true });
  const list = names.map((name) => `'${name}'`).join(", ");
  const { bytes } = database.prepare(`select sum(pgsize) as bytes from dbstat where name in (${list})`).get() ?? {};
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

async function sizesOf(kind: Kind): Promise<readonly Figure[]> {
  const directory = dataFolder();
  const store = await openStore(directory);
  try {
    const days = await fill(store, kind);
    const all = devices * positions;
    const { tailPositions } = store.sealing;
    // The log's pages are moved into the database by its close.
    await store.close();
    const day = bytesOf(directory, tables) / all;
    const sealed = bytesOf(directory, ["block", "block_data"]) / (all - tailPositions);
    const [rows, csv] = [plainRows(days) / all, csvUnderZstd(days) / all];
    const made = `plain rows ${rows.toFixed(1)}, CSV under zstd ${csv.toFixed(1)}`;
    const figure = { unit: "bytes", bound: "under" } as const;
    return [
      { ...figure, name: `size, a sealed position ${kind.name}`, value: sealed, limit: kind.sealedMost, made },
      {
        ...figure,
        name: `size, a position of a day ${kind.name}, tail included`,
        value: day,
        limit: kind.dayMost,
        made: `${tailPositions} of ${all} positions in the tail`,
      },
    ];
  } finally {
    await store.close();
    removeFolder(directory);
  }
}

/** Bytes on disk for each position of a fleet's day. */
export async function size(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const kind of kinds) figures.push(...(await sizesOf(kind)));
  return figures;
}
