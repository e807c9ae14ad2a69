import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { draftOf } from "../../src/ingest/draft.ts";
import { planAppend } from "../../src/ingest/plan.ts";
import { type DeviceState, neverReported } from "../../src/model/location.ts";
import { packBlock } from "../../src/store/blocks/block.ts";
import { checksumFor } from "../../src/store/blocks/layout.ts";
import { blockRecords } from "../../src/store/locations/sizes.ts";
import { writeRecord } from "../../src/store/records/record-codec.ts";
import { rowSum } from "../../src/store/records/row-sum.ts";
import { ByteSink } from "../../src/store/records/sink.ts";
import { writeState } from "../../src/store/records/state-codec.ts";
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

/** A block that each device of a fleet gets, with a checksum of its own. */
interface Template {
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Bytes of the records before packing. */
  readonly bytes: number;
  readonly data: Uint8Array<ArrayBuffer>;
}

/** Blocks of one transaction. */
const blocksAtOnce = 10_000;
/** Offset of the checksum in a block. */
const sumAt = 4;

/**
 * Makes a data folder with devices and their positions in blocks. The service itself makes the folder and the first device. The blocks of one device of each fleet are packed once and
 * written for all of its devices, in the order of time, as they would have been sealed. Devices have the first IMEI numbers of the load's fleet, one fleet after the other.
 */
export async function fillBlocks(directory: string, fleets: readonly Fleet[]): Promise<void> {
  const devices = fleets.reduce((sum, fleet) => sum + fleet.devices, 0);
  await fillDevices(directory, devices);
  const database = new DatabaseSync(join(directory, "waybeam.db"));
  try {
    database.exec("pragma synchronous = off");
    const keys = database.prepare("select key from device order by key").all();
    let taken = 0;
    const parts = fleets.map((fleet) => {
      const own = keys.slice(taken, taken + fleet.devices).map(({ key }) => Number(key));
      taken += fleet.devices;
      return { keys: own, ...historyOf(fleet) };
    });
    writeBlocks(database, parts);
    database.exec("pragma wal_checkpoint(truncate)");
  } finally {
    database.close();
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
      insert into device_state (device, version, data) select key, 0, x'' from device where true on conflict do nothing;
      commit`);
  } finally {
    database.close();
  }
}

/** The history of one device of a fleet, and the state that it ends with. */
function historyOf({ positions, everyMs, readings }: Fleet) {
  const templates: Template[] = [];
  const records = new ByteSink(1024 * 1024);
  let state: DeviceState = neverReported;
  let fixes = [];
  for (const fix of drive(positions, everyMs, readings)) {
    fixes.push(fix);
    if (fixes.length < blockRecords && state.arrivals + fixes.length < positions) continue;
    const { plan } = planAppend(
      state,
      fixes.map((one) => draftOf(one, one.time, one.time + 800, false)),
    );
    state = plan.state;
    fixes = [];
    records.length = 0;
    for (const record of plan.records) writeRecord(records, record);
    const [first = 0, last = 0] = [plan.records[0]?.time, plan.records.at(-1)?.time];
    const packed = { first, last, count: plan.records.length, bytes: records.length };
    templates.push({ ...packed, data: packBlock(records.written, 0) });
  }
  return { templates, state };
}

interface Part {
  readonly keys: readonly number[];
  readonly templates: readonly Template[];
  readonly state: DeviceState;
}

function writeBlocks(database: DatabaseSync, parts: readonly Part[]): void {
  const block = database.prepare(
    "insert into block (seq, device, first, last, count, bytes, as_of, crc) values (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const blockData = database.prepare("insert into block_data (seq, data) values (?, ?)");
  const newest = new Map<number, number>();
  let seq = 0;
  database.exec("begin");
  const all = parts.flatMap(({ keys, templates }) => templates.map((template) => ({ keys, template })));
  for (const { keys, template } of all.toSorted((one, other) => one.template.last - other.template.last)) {
    const { first, last, count, bytes, data } = template;
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    for (const device of keys) {
      if (++seq % blocksAtOnce === 0) database.exec("commit; begin");
      view.setUint32(sumAt, checksumFor(device, data), true);
      const numbers = [seq, device, first, last, count, bytes, seq];
      block.run(...numbers, rowSum([...numbers, 0, 0, 0, 0, 0], data));
      blockData.run(seq, data);
      newest.set(device, seq);
    }
  }
  const state = database.prepare("update device_state set version = ?, as_of = ?, data = ?, crc = ? where device = ?");
  for (const part of parts) for (const device of part.keys) writeStateOf(state, device, newest.get(device) ?? 0, part);
  database.exec("commit");
}

function writeStateOf(statement: StatementSync, device: number, asOf: number, { state }: Part): void {
  const sink = new ByteSink(1024);
  writeState(sink, state);
  const data = sink.cut();
  statement.run(state.version, asOf, data, rowSum([device, state.version, asOf], data), device);
}
