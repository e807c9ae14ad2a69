import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { DeviceFold } from "../../src/follow/device-fold.ts";
import { freshRecordOf } from "../../src/ingest/fresh-record.ts";
import type { Day, DeviceHead } from "../../src/model/follow.ts";
import type { FreshRecord } from "../../src/ports/follow.ts";
import { type Block, packBlock } from "../../src/store/positions/block.ts";
import { putRecord } from "../../src/store/positions/packed-record.ts";
import { ByteSink } from "../../src/store/positions/sink.ts";
import { dayBytes, dayColumns, headBytes } from "../../src/store/rows/follow-codec.ts";
import { register, startService } from "../../test/support/service.ts";
import { avlImei } from "./avl.ts";
import { drive, type Reported } from "./drive.ts";
import { copyFirst } from "./fill-accounts.ts";

/** Devices that drove alike. */
export interface Fleet {
  readonly devices: number;
  /** Positions of each device. */
  readonly positions: number;
  readonly everyMs: number;
  readings(at: number): Reported;
}

/** Rows of one transaction. */
const rowsAtOnce = 10_000;
const blockRecords = 1000;

/** What one device of a fleet has. */
interface History {
  readonly blocks: readonly Block[];
  readonly head: DeviceHead;
  readonly days: readonly Day[];
}

/**
 * Makes a data folder with devices, their positions in blocks, and what follows from these. The service itself makes
 * the folder and the first device. The blocks of one device of each fleet are packed once and written for all of its
 * devices, in the order of time, as they would have been packed. Devices have the first IMEI numbers of the load's
 * fleet, one fleet after the other.
 */
export async function fillBlocks(directory: string, fleets: readonly Fleet[]): Promise<void> {
  const devices = fleets.reduce((sum, fleet) => sum + fleet.devices, 0);
  await fillDevices(directory, devices);
  const [rows, positions] = ["waybeam.db", "positions.db"].map((name) => new DatabaseSync(join(directory, name)));
  if (rows === undefined || positions === undefined) throw new Error("there are two databases");
  try {
    for (const database of [rows, positions]) database.exec("pragma synchronous = off");
    const keys = rows.prepare("select key from device order by key").all();
    let taken = 0;
    const parts = fleets.map((fleet) => {
      const own = keys.slice(taken, taken + fleet.devices).map(({ key }) => Number(key));
      taken += fleet.devices;
      return { keys: own, ...historyOf(fleet) };
    });
    writeBlocks(positions, parts);
    writeFollowed(rows, parts);
    for (const database of [rows, positions]) database.exec("pragma wal_checkpoint(truncate)");
  } finally {
    for (const database of [rows, positions]) database.close();
  }
}

/** Makes a data folder with devices that never reported. */
export async function fillDevices(directory: string, devices: number): Promise<void> {
  const service = await startService(directory, { WAYBEAM_LICENSES: String(devices) });
  await register(service, [avlImei(0)]);
  await service.stop();
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  try {
    database.exec("begin");
    copyFirst(database, "device", devices - 1, { id: "'35200000' || format('%07d', i)" });
    database.exec(`
      insert into device_identifier (identifier, device) select id, key from device where true on conflict do nothing;
      commit`);
  } finally {
    database.close();
  }
}

/** The history of one device of a fleet. */
function historyOf({ positions, everyMs, readings }: Fleet): History {
  const blocks: Block[] = [];
  const fold = new DeviceFold();
  const bytes = new ByteSink(1024 * 1024);
  let records: FreshRecord[] = [];
  let left = positions;
  for (const fix of drive(positions, everyMs, readings)) {
    records.push(freshRecordOf(fix, fix.time, fix.time + 800, false));
    left--;
    if (records.length < blockRecords && left > 0) continue;
    // Without rules nothing is found.
    for (const _ of fold.take(records, () => undefined));
    bytes.length = 0;
    for (const record of records) putRecord(bytes, record);
    blocks.push(packBlock(bytes.written, 0));
    records = [];
  }
  return { blocks, head: fold.head, days: fold.days };
}

interface Part extends History {
  readonly keys: readonly number[];
}

/** Writes the checksum of another device's block. */
function sealFor(device: number, data: Uint8Array): void {
  const sum = crc32(data.subarray(8), crc32(data.subarray(0, 4), device >>> 0));
  new DataView(data.buffer, data.byteOffset, data.byteLength).setUint32(4, sum, true);
}

/** In transactions of some rows. */
function* transactions(database: DatabaseSync): Generator<void, void, undefined> {
  database.exec("begin");
  try {
    for (let rows = 1; ; rows++) {
      if (rows % rowsAtOnce === 0) database.exec("commit; begin");
      yield;
    }
  } finally {
    database.exec("commit");
  }
}

function writeBlocks(database: DatabaseSync, parts: readonly Part[]): void {
  const block = database.prepare(
    "insert into block (device, first, last, number, count, data) values (?, ?, ?, 0, ?, ?)",
  );
  const all = parts.flatMap(({ keys, blocks }) => blocks.map((one) => ({ keys, one })));
  const written = transactions(database);
  for (const { keys, one } of all.toSorted((a, b) => a.one.last - b.one.last))
    for (const device of keys) {
      written.next();
      sealFor(device, one.data);
      block.run(device, one.first, one.last, one.count, one.data);
    }
  written.return();
}

function writeFollowed(database: DatabaseSync, parts: readonly Part[]): void {
  const ofHead = database.prepare("insert into device_head (device, data) values (?, ?)");
  const ofDay = database.prepare(`insert into device_day
    (device, day, odometer_mm, sensor1_ms, sensor2_ms, sensor3_ms, sensor4_ms, records, last, data)
    values (:device, :day, :odometer_mm, :sensor1_ms, :sensor2_ms, :sensor3_ms, :sensor4_ms, :records, :last, :data)`);
  const written = transactions(database);
  for (const { keys, head, days } of parts)
    for (const device of keys) {
      written.next();
      ofHead.run(device, headBytes(device, head));
      for (const day of days) ofDay.run({ device, day: day.day, ...dayColumns(day), data: dayBytes(device, day) });
    }
  written.return();
}
