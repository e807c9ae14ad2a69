import type { DatabaseSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { isWhole } from "../records/row-sum.ts";
import { type BlockSpan, SpentRows, type SpentTable, unpackStays } from "../records/spent.ts";
import { doubles } from "./row-sums.ts";
import { RowsAround } from "./rows-around.ts";

/** Rows that are read at a time. */
const some = 1024;

/** Devices whose entries can't be read, by their keys. */
interface Lost {
  readonly from: DeviceKey;
  readonly to: DeviceKey;
}

/** Reads which rows of the tail are spent. `schema`: of an attached database. */
export function spentIn(database: DatabaseSync, schema: "main" | "live" = "main"): SpentTable {
  const rows: SpentTable["rows"][number][] = [];
  const lost: Lost[] = [];
  // Data of earlier versions have no such table.
  const there = database.prepare(`select 1 from ${schema}.sqlite_master where name = 'spent'`).get();
  if (there === undefined) return { rows, damaged: [] };
  const columns = `${doubles(["device", "seq", "crc"])}, data`;
  for (const row of new RowsAround(database, { table: `${schema}.spent`, columns }).all(some)) {
    if ("from" in row) {
      lost.push({ from: row.from, to: row.to ?? Number.MAX_SAFE_INTEGER });
      continue;
    }
    const [device = 0, seq = 0, sum = 0] = row.slice(0, 3).map(Number);
    const data = row[3];
    if (data instanceof Uint8Array && isWhole(sum, [device, seq], data) === true)
      rows.push({ device, seq, stays: unpackStays(data) });
    else lost.push({ from: device, to: device });
  }
  return { rows, damaged: lost.length === 0 ? [] : blocksOf(database, schema, lost) };
}

/** The blocks of devices whose entries can't be read. */
function blocksOf(database: DatabaseSync, schema: string, lost: readonly Lost[]): SpentTable["damaged"] {
  const found = new Map<DeviceKey, BlockSpan[]>();
  const columns = doubles(["seq", "device", "first", "last", "as_of"]);
  for (const row of new RowsAround(database, { table: `${schema}.block`, columns }).all(some)) {
    if ("from" in row) continue;
    const [, device = 0, first = 0, last = 0, asOf = 0] = row.map(Number);
    if (!lost.some(({ from, to }) => device >= from && device <= to)) continue;
    const blocks = found.get(device) ?? [];
    found.set(device, blocks);
    blocks.push({ first, last, asOf });
  }
  return [...found].map(([device, blocks]) => ({ device, blocks }));
}

/** Adds `is_spent(device, seq, first, last)` to SQL: whether a row of the tail is spent, as of now. Call it in the transaction that reads the rows. Returns the damaged entries. */
export function addSpentFunction(database: DatabaseSync, schema: "main" | "live" = "main"): SpentTable["damaged"] {
  const table = spentIn(database, schema);
  const spent = new SpentRows(table);
  // A damaged integer may be too large for JavaScript, and would make the whole query fail.
  const options = { deterministic: true, varargs: true, useBigIntArguments: true };
  database.function("is_spent", options, (...numbers) => {
    const [device = 0, seq = 0, first = 0, last = 0] = numbers.map(Number);
    return spent.has({ device, seq, first, last }) ? 1 : 0;
  });
  return table.damaged;
}
