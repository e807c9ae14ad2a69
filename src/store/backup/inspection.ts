import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openBlock } from "../positions/block.ts";
import { RecordsDamaged } from "../positions/damage.ts";
import { LogRow } from "../positions/log-row.ts";
import { PackedCursor } from "../positions/packed-record.ts";
import { dayColumns, dayOf, headOf } from "../rows/follow-codec.ts";
import { damageOf, isDamage } from "../sqlite/engine-errors.ts";
import { folderNumber } from "../sqlite/pair.ts";
import type { LongWork } from "./refused.ts";

/** Something that is wrong with a database. */
export interface Finding {
  /** Public id of the device that it belongs to. Undefined when it belongs to no single device. */
  readonly device: string | undefined;
  /** Event times of the positions that it concerns, epoch ms. */
  readonly range?: { readonly from: number; readonly to: number };
  readonly problem: string;
}

/** What reading all of a data folder found. */
export interface Inspection {
  readonly devices: number;
  /** Those of blocks and of the log; a repeat that is in both counts twice. */
  readonly positions: number;
  /** The first of them. */
  readonly findings: readonly Finding[];
  /** Findings beside these. */
  readonly more: number;
}

/** The two databases of a data folder, each at one moment. */
export interface Databases {
  readonly rows: DatabaseSync;
  readonly positions: DatabaseSync;
}

/** Findings that are kept: a disk that is broken throughout would give millions. */
const most = 200;
/** Messages of SQLite's own check. */
const mostMessages = 50;
/** Rows between two turns of the event loop. */
const rowsAtOnce = 64;

/**
 * Reads everything of open databases and tells what is wrong. Takes memory by the number of devices, not by what they
 * stored.
 */
export async function inspect(databases: Databases, work: LongWork): Promise<Inspection> {
  return new Inspector(databases, work).run();
}

class Inspector {
  readonly #databases: Databases;
  readonly #work: LongWork;
  readonly #ids = new Map<number, string>();
  readonly #findings: Finding[] = [];
  #more = 0;
  #positions = 0;

  constructor(databases: Databases, work: LongWork) {
    this.#databases = databases;
    this.#work = work;
  }

  async run(): Promise<Inspection> {
    const { rows, positions } = this.#databases;
    this.#ownCheck(rows, "waybeam.db");
    this.#ownCheck(positions, "positions.db");
    if (folderNumber(rows) !== folderNumber(positions))
      this.#tell({ device: undefined, problem: "positions.db is not the one that belongs to waybeam.db" });
    await this.#each(rows, "device", "select key, id from device where key > ? order by key limit 1", "key", (row) => {
      this.#ids.set(Number(row.key), String(row.id));
    });
    await this.#each(
      rows,
      "device_head",
      "select device, data from device_head where device > ? order by device limit 1",
      "device",
      (row) => {
        const device = Number(row.device);
        this.#try(device, "its head (the last position and the totals)", () => headOf(device, bytesIn(row.data)));
      },
    );
    await this.#days();
    await this.#each(
      positions,
      "block",
      "select id, device, first, last, count, data from block where id > ? order by id limit 1",
      "id",
      (row) => this.#block(row),
    );
    await this.#each(positions, "log", "select seq, data from log where seq > ? order by seq limit 1", "seq", (row) =>
      this.#logRow(row),
    );
    return {
      devices: this.#ids.size,
      positions: this.#positions,
      findings: this.#findings,
      more: this.#more,
    };
  }

  /** What SQLite itself finds: pages, indexes, and the order of both. */
  #ownCheck(database: DatabaseSync, name: string): void {
    this.#work.progress(() => `checking the pages of ${name} ...`);
    try {
      for (const row of database.prepare(`pragma integrity_check(${mostMessages})`).all())
        if (row.integrity_check !== "ok") this.#tell({ device: undefined, problem: `${name}: ${row.integrity_check}` });
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#tell({ device: undefined, problem: `${name}: ${error.message}` });
    }
    this.#work.signal.throwIfAborted();
  }

  /** Reads the rows of a table one by one, in the order of a number: one that can't be read ends its table. */
  async #each(
    database: DatabaseSync,
    table: string,
    query: string,
    key: string,
    use: (row: Readonly<Record<string, unknown>>) => void,
  ): Promise<void> {
    try {
      const next = database.prepare(query);
      let count = 0;
      for (let after = -1; ; ) {
        const row = next.get(after);
        if (row === undefined) return;
        if (Number(row[key]) <= after) {
          this.#tell({ device: undefined, problem: `the rows of the table ${table} are not in their order` });
          return;
        }
        after = Number(row[key]);
        use(row);
        if (++count % rowsAtOnce !== 0) continue;
        this.#work.signal.throwIfAborted();
        this.#work.progress(() => `reading ${table}: ${count} rows, ${this.#positions} positions`);
        await nextTurn();
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#tell({ device: undefined, problem: `the table ${table} can't be read to its end: ${error.message}` });
    }
  }

  async #days(): Promise<void> {
    const { rows } = this.#databases;
    const next = rows.prepare("select * from device_day where device = ? order by day");
    let count = 0;
    try {
      for (const device of this.#ids.keys()) {
        for (const row of next.iterate(device)) {
          const day = Number(row.day);
          const name = new Date(day * 86_400_000).toISOString().slice(0, 10);
          this.#try(device, `its day ${name}`, () => {
            const columns = Object.entries(dayColumns(dayOf(device, day, bytesIn(row.data))));
            if (columns.some(([column, value]) => row[column] !== value))
              throw new RecordsDamaged("its sums are not those of its bytes");
          });
        }
        if (++count % rowsAtOnce === 0) await nextTurn();
        this.#work.signal.throwIfAborted();
      }
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#tell({ device: undefined, problem: `the table device_day can't be read to its end: ${error.message}` });
    }
  }

  #block(row: Readonly<Record<string, unknown>>): void {
    const [device, first, last, count] = [row.device, row.first, row.last, row.count].map(Number);
    if (device === undefined || first === undefined || last === undefined || count === undefined) return;
    const range = { from: first, to: last };
    this.#try(
      device,
      `block ${row.id}`,
      () => {
        const records = openBlock({ first, last, count, data: bytesIn(row.data) }, device);
        let read = 0;
        while (records.next()) read++;
        this.#positions += read;
      },
      range,
    );
  }

  #logRow(row: Readonly<Record<string, unknown>>): void {
    const what = `row ${row.seq} of the log`;
    this.#try(undefined, what, () => {
      const read = new LogRow(bytesIn(row.data));
      for (let index = 0; index < read.devices; index++) {
        const range = { from: read.moment, to: read.moment };
        this.#try(read.deviceAt(index), what, () => this.#records(read.recordsAt(index)), range);
      }
    });
  }

  #records(bytes: Uint8Array): void {
    const cursor = new PackedCursor(bytes);
    for (let at = 0; at < bytes.byteLength; at = cursor.end) {
      cursor.read(at);
      this.#positions++;
    }
  }

  #try(device: number | undefined, what: string, read: () => unknown, range?: Finding["range"]): void {
    try {
      read();
    } catch (error) {
      const why = damageOf(error);
      if (why === undefined) throw error;
      const id = device === undefined ? undefined : (this.#ids.get(device) ?? `with the key ${device}, which is gone`);
      this.#tell({ device: id, ...(range && { range }), problem: `${what} is damaged: ${why}` });
    }
  }

  #tell(finding: Finding): void {
    if (this.#findings.length < most) this.#findings.push(finding);
    else this.#more++;
  }
}

function bytesIn(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array(0);
}
