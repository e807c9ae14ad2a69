import type { DatabaseSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { isWhole } from "../records/row-sum.ts";
import { type SpentOfDevice, SpentRows, type SpentTable, unpackStays } from "../records/spent.ts";
import { doubles } from "./row-sums.ts";
import { RowsAround } from "./rows-around.ts";
import { spentAgain } from "./spent-again.ts";

/** Rows that are read at a time. */
const some = 1024;

/** Devices whose entries can't be read, by their keys. */
interface Lost {
  readonly from: DeviceKey;
  readonly to: DeviceKey;
  /** Whether the checksum of an entry is right for another device: then the device's number is what is damaged. */
  readonly fits?: (device: DeviceKey) => boolean;
}

/** Reads which rows of the tail are spent. Where an entry is damaged, the blocks tell. `schema`: of an attached database. */
export function spentIn(database: DatabaseSync, schema: "main" | "live" = "main"): SpentTable {
  const rows: SpentOfDevice[] = [];
  const lost: Lost[] = [];
  // Data of earlier versions have no such tables. A backup has the bytes of blocks elsewhere, and no spent rows.
  const there = database.prepare(`select 1 from ${schema}.sqlite_master where name in ('spent', 'block_data')`).all();
  if (there.length < 2) return { rows, damaged: [] };
  const columns = `${doubles(["device", "seq", "crc"])}, data`;
  for (const row of new RowsAround(database, { table: `${schema}.spent`, columns }).all(some)) {
    if ("from" in row) {
      lost.push({ from: row.from, to: row.to ?? Number.MAX_SAFE_INTEGER });
      continue;
    }
    const [device = 0, seq = 0, sum = 0] = row.slice(0, 3).map(Number);
    const data = row[3] instanceof Uint8Array ? row[3] : nothing;
    const fits = (other: DeviceKey) => isWhole(sum, [other, seq], data) === true;
    if (fits(device)) rows.push({ device, seq, stays: unpackStays(data) });
    else lost.push({ from: device, to: device, fits });
  }
  if (lost.length === 0) return { rows, damaged: [] };
  const known = new Set(rows.map(({ device }) => device));
  const again = spentAgain(database, schema, (device) => !known.has(device) && lost.some((one) => isOf(one, device)));
  return { rows: [...rows, ...again], damaged: again.map(({ device }) => device) };
}

const nothing = new Uint8Array(0);

function isOf({ from, to, fits }: Lost, device: DeviceKey): boolean {
  return (device >= from && device <= to) || fits?.(device) === true;
}

/** Adds `is_spent(device, seq)` to SQL: whether a row of the tail is spent, as of now. Call it in the transaction that reads the rows. Returns the damaged entries. */
export function addSpentFunction(database: DatabaseSync, schema: "main" | "live" = "main"): SpentTable["damaged"] {
  const table = spentIn(database, schema);
  const spent = new SpentRows(table);
  // A damaged integer may be too large for JavaScript, and would make the whole query fail.
  const options = { deterministic: true, varargs: true, useBigIntArguments: true };
  database.function("is_spent", options, (...numbers) => {
    const [device = 0, seq = 0] = numbers.map(Number);
    return spent.has({ device, seq }) ? 1 : 0;
  });
  return table.damaged;
}
