import type { DatabaseSync } from "node:sqlite";
import type { DamagedTotals, ReaderCalls, WaitingRow } from "../locations/calls.ts";
import { noMatch } from "../locations/failures.ts";
import { fitsNumbers } from "../records/row-sum.ts";
import { doubles } from "./row-sums.ts";
import { RowsAround } from "./rows-around.ts";

/** Rows that are read at a time. */
const some = 1024;

/** Sums of each device's shifts and patches: see `ReaderCalls.waiting`. */
export function waitingIn(database: DatabaseSync): ReaderCalls["waiting"]["answer"] {
  const damaged: DamagedTotals[] = [];
  // One row for each device.
  const shifts = [...rowsOf(database, "shifts", "device", damaged)];
  const byDevice = new Map<number, WaitingRow>();
  for (const { device, seq, since, count } of rowsOf(database, "patch", "key", damaged)) {
    const before = byDevice.get(device) ?? { seq: 0, since: Number.POSITIVE_INFINITY, count: 0 };
    byDevice.set(device, {
      device,
      seq: Math.max(seq, before.seq),
      since: Math.min(since, before.since),
      count: count + before.count,
    });
  }
  return { shifts, patches: [...byDevice.values()], damaged };
}

function* rowsOf(
  database: DatabaseSync,
  table: "shifts" | "patch",
  key: string,
  damaged: DamagedTotals[],
): Generator<WaitingRow> {
  const numbers = table === "shifts" ? ["since", "count"] : ["first", "last", "count"];
  const columns = doubles([key, "device", "seq", ...numbers, "crc"]);
  for (const row of new RowsAround(database, { table, columns }).all(some)) {
    if ("from" in row) {
      damaged.push({ device: undefined, problem: `rows of the table ${table} can't be read: a page is damaged` });
      continue;
    }
    const [device = 0, seq = 0, since = 0, ...others] = row.slice(1, -1).map(Number);
    const sum = row.at(-1);
    if (sum !== null && !fitsNumbers(Number(sum), [device, seq, since, ...others]))
      damaged.push({ device, problem: noMatch });
    yield { device, seq, since, count: others.at(-1) ?? 0 };
  }
}
