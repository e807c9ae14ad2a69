import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeviceKey } from "../../model/device.ts";
import { isOwnRow } from "../blocks/own-row.ts";
import { fitsNumbers } from "../records/row-sum.ts";
import { asDoubles, summed } from "./row-sums.ts";

/** Tells whether the numbers of a chunk's row can be believed: the times of its records, and whose they are. */
export class RowCheck {
  readonly #tail: StatementSync;
  readonly #block: StatementSync;

  constructor(database: DatabaseSync) {
    // The checksum alone checks the numbers. A row without a checksum has its bytes read instead.
    this.#tail = database.prepare(
      `select ${asDoubles([...summed.tail, "crc"])}, case when crc is null then data end as data from tail where seq = ?`,
    );
    this.#block = database.prepare(
      `select ${asDoubles([...summed.block, "crc"])}, case when crc is null then data end as data
       from block left join block_data using (seq) where seq = ?`,
    );
  }

  /** Undefined: there is no such row. */
  isWhole(device: DeviceKey, seq: number): boolean | undefined {
    const tail = this.#tail.get(seq);
    if (tail !== undefined) return isWhole("tail", device, tail);
    const block = this.#block.get(seq);
    return block && isWhole("block", device, block);
  }
}

function isWhole(table: "tail" | "block", device: DeviceKey, row: Readonly<Record<string, unknown>>): boolean {
  const { crc, data } = row;
  const numbers = summed[table].map((column) => (column === "device" ? device : Number(row[column])));
  if (crc !== null) return fitsNumbers(Number(crc), numbers);
  if (!(data instanceof Uint8Array)) return false;
  const [first, last, count] = [Number(row.first), Number(row.last), Number(row.count)];
  return isOwnRow(table, Number(row.device), { device, first, last, count, data });
}
