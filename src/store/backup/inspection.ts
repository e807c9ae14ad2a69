import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { mostPositionDays } from "../../model/position-days.ts";
import { EngineError } from "../locations/failures.ts";
import { asOfQuery, asOfSetting } from "../locations/stored-states.ts";
import { RecordsDamaged, recordsDamage } from "../records/damage.ts";
import { Patches, type PatchRow } from "../records/patches.ts";
import { SpentRows } from "../records/spent.ts";
import { readState } from "../records/state-codec.ts";
import { columnsOf, isRowWhole } from "../sqlite/row-sums.ts";
import { shiftsOf } from "../sqlite/shift-rows.ts";
import { spentIn } from "../sqlite/spent-table.ts";
import { ChunkWalk, type Row } from "./chunk-walk.ts";
import type { Counted } from "./copy.ts";
import { isDamage } from "./damage.ts";
import type { LongWork } from "./refused.ts";

/** Something that is wrong with a database. */
export interface Finding {
  /** Public id of the device that it belongs to. Undefined when it belongs to no single device. */
  readonly device: string | undefined;
  /** Event times of the positions that it concerns, epoch ms. */
  readonly range?: { readonly from: number; readonly to: number };
  readonly problem: string;
}

/** What reading all of a database found. */
export interface Inspection {
  readonly devices: number;
  readonly positions: number;
  readonly byDevice: ReadonlyMap<number, Counted>;
  /** The first of them. */
  readonly findings: readonly Finding[];
  /** Findings beside these. */
  readonly more: number;
}

/** Findings that are kept: a disk that is broken throughout would give millions. */
const most = 200;
/** Messages of SQLite's own check. */
const mostMessages = 50;
const statesAtOnce = 256;
const stateDamaged = "its state (the last position and the totals) is damaged";

/** Numbers of a row of `device_state`. */
interface StateRow {
  readonly device: number;
  readonly version: number;
  readonly asOf: number;
  /** Positions that retention deleted. */
  readonly deleted: number;
}

interface Found extends Counted {
  numbered: number;
  /** Rows that the device's state may not include yet, and how many numbered records each has. */
  readonly newer: { readonly seq: number; readonly numbered: number }[];
  /** A finding tells of its positions already. */
  told: boolean;
}

/**
 * Reads everything of an open database and tells what is wrong. Takes memory by the number of devices, not by what they stored. `isRead`: the bytes of blocks are in packs that were
 * read already.
 */
export async function inspect(database: DatabaseSync, work: LongWork, { isRead = false } = {}): Promise<Inspection> {
  return await new Inspector(database, work, isRead).run();
}

class Inspector {
  readonly #database: DatabaseSync;
  readonly #work: LongWork;
  readonly #isRead: boolean;
  readonly #byDevice = new Map<number, Found>();
  readonly #findings: Finding[] = [];
  #spent = new SpentRows({ rows: [], damaged: [] });
  #more = 0;
  #positions = 0;
  /** Rows of the tail after this one may be newer than the states of their devices. Earlier versions had no such rows. */
  #statesAsOf = Number.POSITIVE_INFINITY;

  constructor(database: DatabaseSync, work: LongWork, isRead: boolean) {
    this.#database = database;
    this.#work = work;
    this.#isRead = isRead;
  }

  async run(): Promise<Inspection> {
    // Data of earlier versions have no blocks.
    const hasBlocks = this.#database.prepare("select 1 from sqlite_master where name = 'block'").get() !== undefined;
    if (hasBlocks) await this.#part("sealed positions", () => this.#chunks("block"));
    await this.#part("settings", async () => {
      const settings = this.#database.prepare(asOfQuery).all();
      if (settings.length > 0) this.#statesAsOf = asOfSetting(settings);
    });
    await this.#part("positions that are in blocks by now", async () => this.#readSpent());
    await this.#part("positions", () => this.#chunks("tail"));
    await this.#part("states of devices", () => this.#states());
    await this.#part("late positions' sums", () => this.#shifts());
    if (hasBlocks) await this.#part("late positions' totals", () => this.#patches());
    await this.#part("days that positions are kept", async () => this.#positionDays());
    await this.#part("pages", () => this.#pages());
    const devices = await this.#part("devices", async () =>
      Number(this.#database.prepare("select count(*) as n from device").get()?.n),
    );
    return {
      devices: devices ?? 0,
      positions: this.#positions,
      byDevice: this.#byDevice,
      findings: this.#findings,
      more: this.#more,
    };
  }

  /** A table that can't be read at all is a finding, and the others are read nevertheless. */
  async #part<T>(what: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#tell(undefined, `the ${what} can't be read: ${error.message}`);
      return undefined;
    }
  }

  #tell(device: number | undefined, problem: string, range?: { from: number; to: number }): void {
    if (this.#findings.length >= most) this.#more++;
    else
      this.#findings.push({
        device: device === undefined ? undefined : this.#idOf(device),
        problem,
        ...(range && { range }),
      });
  }

  #idOf(device: number): string {
    try {
      const id = this.#database.prepare("select id from device where key = ?").get(device)?.id;
      return id === undefined ? `of key ${device}, which was removed` : String(id);
    } catch (error) {
      if (isDamage(error)) return `of key ${device}`;
      throw error;
    }
  }

  #readSpent(): void {
    const table = spentIn(this.#database);
    this.#spent = new SpentRows(table);
    for (const device of table.damaged)
      this.#tell(device, "what says which of its positions are in blocks is damaged; the blocks themselves tell");
  }

  async #chunks(table: Row["table"]): Promise<void> {
    const { signal, progress } = this.#work;
    const listener = {
      row: (row: Row) => this.#row(row),
      unreadable: (rows: string) => this.#tell(undefined, rows),
    };
    const walk = new ChunkWalk(this.#database, table, listener, { isRead: this.#isRead, spent: this.#spent });
    while (walk.step()) {
      signal.throwIfAborted();
      const what = table === "tail" ? "positions" : "sealed positions";
      progress(() => `reading ${what}: ${walk.percent} %, ${this.#positions} read`);
      await nextTurn();
    }
  }

  #row({ table, seq, device, first, last, count, checked }: Row): void {
    const found = this.#byDevice.get(device) ?? { rows: 0, records: 0, numbered: 0, newer: [], told: false };
    this.#byDevice.set(device, found);
    found.rows++;
    found.records += checked.records;
    found.numbered += checked.numbered;
    if (table === "tail" && seq > this.#statesAsOf) found.newer.push({ seq, numbered: checked.numbered });
    this.#positions += checked.records;
    if (checked.problem === undefined) return;
    found.told = true;
    const what = table === "tail" ? "row" : "block";
    const text = `${what} ${seq} with ${count} positions is damaged: ${checked.problem}`;
    this.#tell(device, text, { from: first, to: last });
  }

  /** The state of a device knows how many positions it has numbered, so missing ones show whatever became of their rows. */
  async #states(): Promise<void> {
    const columns = columnsOf(this.#database, "device_state");
    const has = this.#database.prepare("select 1 from pragma_table_info('device_state') where name = ?");
    const deleted = has.get("deleted") === undefined ? "0" : "cast(deleted as real)";
    const unshifted =
      has.get("shifted") === undefined
        ? "0"
        : "shifted = 1 and not exists (select 1 from shifts s where s.device = d.device)";
    const rows = this.#database.prepare(
      `select ${columns}, ${deleted} as deleted, ${unshifted} as unshifted from device_state d where d.rowid > ? order by d.rowid limit ${statesAtOnce}`,
    );
    for (let after = -(2 ** 53), more = true; more; await nextTurn()) {
      this.#work.signal.throwIfAborted();
      const some = rows.all(after);
      more = some.length === statesAtOnce;
      for (const row of some) {
        const device = Number(row.device);
        // A damaged row may have any number.
        after = Math.max(after + 1, device);
        const bytes = row.data instanceof Uint8Array ? row.data : new Uint8Array(0);
        // Data of earlier versions have neither `as_of` nor `deleted`.
        const { version, as_of: asOf = 0, deleted = 0 } = row;
        const numbers = { device, version: Number(version), asOf: Number(asOf), deleted: Number(deleted) };
        if (isRowWhole("device_state", row) === false) this.#tell(device, stateDamaged);
        else this.#state(numbers, bytes);
        if (row.unshifted === 1) this.#tell(device, "what late positions add to its totals is missing");
      }
    }
  }

  #state({ device, version, asOf, deleted }: StateRow, data: Uint8Array): void {
    const found = this.#byDevice.get(device);
    let known = arrivalsOf(data, version);
    if (known === undefined || !Number.isSafeInteger(version) || !Number.isSafeInteger(asOf)) {
      this.#tell(device, stateDamaged);
      return;
    }
    for (const { seq, numbered } of found?.newer ?? []) if (seq > asOf) known += numbered;
    const numbered = found?.numbered ?? 0;
    // Retention counts what it deletes. Positions of earlier versions have no number, so it may have deleted fewer numbered ones than it counted.
    if ((numbered <= known && numbered >= known - deleted) || found?.told) return;
    this.#tell(
      device,
      numbered < known
        ? `${known - deleted - numbered} of its ${known - deleted} positions are missing`
        : `its state is older than its positions: it knows ${known} of ${numbered}`,
    );
  }

  async #shifts(): Promise<void> {
    for (const row of this.#database.prepare(`select ${columnsOf(this.#database, "shifts")} from shifts`).iterate())
      if (!isReadable(() => shiftsOf(Number(row.device), row)))
        this.#tell(Number(row.device), "what late positions add to its totals is damaged");
  }

  async #patches(): Promise<void> {
    for (const row of this.#database.prepare(`select ${columnsOf(this.#database, "patch")} from patch`).iterate())
      if (isRowWhole("patch", row) === false || !isReadable(() => new Patches([patchOf(row)])))
        this.#tell(Number(row.device), "what late positions changed in its totals is damaged");
  }

  /** See `storedDays`. */
  #positionDays(): void {
    for (const table of ["device", "account"] as const) {
      const has = this.#database.prepare("select 1 from pragma_table_info(?) where name = 'position_days'");
      // Data of earlier versions have no days.
      if (has.get(table) === undefined) continue;
      const damaged = this.#database.prepare(
        `select key, position_days as days from ${table} where position_days not between 1 and ${mostPositionDays} limit ${most}`,
      );
      for (const { key, days } of damaged.iterate())
        if (table === "device") this.#tell(Number(key), `its positionDays is damaged: ${days}`);
        else this.#tell(undefined, `positionDays of account ${key} is damaged: ${days}`);
    }
  }

  /** SQLite's own check of all pages, tables and indexes; its messages name trees by the page of their root. */
  async #pages(): Promise<void> {
    this.#work.progress(() => "checking all pages and indexes ...");
    await nextTurn();
    const names = new Map(
      this.#database
        .prepare("select name, rootpage from sqlite_master where rootpage > 0")
        .all()
        .map(({ name, rootpage }) => [String(rootpage), String(name)]),
    );
    const messages = this.#database.prepare(`pragma integrity_check(${mostMessages})`).all();
    for (const { integrity_check: message } of messages) {
      if (message === "ok") continue;
      const text = String(message).replace(/^\*\*\*.*\*\*\*\n/, "");
      this.#tell(
        undefined,
        text.replace(/^Tree (\d+)/, (tree, root) => `${names.get(root) ?? tree}:`),
      );
    }
  }
}

function patchOf({ seq, data }: Readonly<Record<string, unknown>>): PatchRow {
  if (!(data instanceof Uint8Array)) throw new RecordsDamaged("it holds no bytes");
  return { seq: Number(seq), data };
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (recordsDamage(error) !== undefined || error instanceof EngineError) return false;
    throw error;
  }
}

/** How many positions a state has numbered. Undefined: it is damaged. */
function arrivalsOf(data: Uint8Array, version: number): number | undefined {
  try {
    return readState(data, version).arrivals;
  } catch (error) {
    if (recordsDamage(error) === undefined) throw error;
    return undefined;
  }
}
