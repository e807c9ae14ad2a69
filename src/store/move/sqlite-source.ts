import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { giveLockToOwner } from "../backup/owner.ts";
import { hasData, isRestorePending } from "../backup/placing.ts";
import { checkVersion, keyIdsOf } from "../backup/version.ts";
import { dataVersion } from "../migrations/migrations.ts";
import { databaseOf } from "../sqlite/folder.ts";
import { waitForFolder } from "../sqlite/lock.ts";
import { checkWhole, cutShort } from "../sqlite/whole.ts";
import type { Origin } from "./journal.ts";
import { MoveRefused } from "./refused.ts";
import type { Key, Page, Table } from "./rows.ts";
import type { SourceSide } from "./sides.ts";
import { SqliteRows } from "./sqlite-rows.ts";

/** A service that closes moves its log into the database and locks it meanwhile, ms. */
const busyTimeoutMs = 5000;

/** Says that data is of an older version, and what to do. */
export function tooOld(where: string, version: number): MoveRefused {
  return new MoveRefused(
    `the data in ${where} is of version ${version}, and this program moves version ${dataVersion}`,
    "Start this program's `waybeam serve` on it once, which brings it up to date, and stop it again.",
  );
}

/** A data folder that is copied. */
export class SqliteSource implements SourceSide {
  readonly shown: string;
  readonly database: DatabaseSync;
  readonly told: readonly string[];
  readonly #lock: { release(): void };
  readonly #rows: SqliteRows;

  private constructor(shown: string, lock: { release(): void }, database: DatabaseSync, told: readonly string[]) {
    this.shown = shown;
    this.database = database;
    this.told = told;
    this.#lock = lock;
    this.#rows = new SqliteRows(database);
  }

  /** Locks a data folder. Rejects with `MoveRefused`, `DataFolderInUse`, `DataFolderUnusable`, and what `checkNumber` throws. */
  static async open(directory: string, pid: number): Promise<SqliteSource> {
    if (
      !statSync(directory, { throwIfNoEntry: false })?.isDirectory() ||
      !(hasData(directory) || isRestorePending(directory))
    )
      throw new MoveRefused(
        `${directory} is no data folder: it has no waybeam.db`,
        "Name the data folder of the service by --from.",
      );
    const lock = await waitForFolder(directory, pid);
    let database: DatabaseSync | undefined;
    try {
      if (isRestorePending(directory))
        throw new MoveRefused(
          `a restore into ${directory} was cut short`,
          "Start the service, which finishes the restore, or run `waybeam restore` again.",
        );
      const told = checkWhole(directory)?.isCutShort ? [cutShort] : [];
      database = new DatabaseSync(join(directory, "waybeam.db"), { readOnly: true, timeout: busyTimeoutMs });
      const version = checkVersion(database, "main");
      if (version < dataVersion) throw tooOld(directory, version);
      return new SqliteSource(resolve(directory), lock, database, told);
    } catch (error) {
      database?.close();
      giveLockToOwner(directory);
      lock.release();
      throw error;
    }
  }

  page(table: Table, after: Key | undefined): Promise<Page> {
    return this.#rows.page(table, after);
  }

  sequences(): Promise<ReadonlyMap<string, bigint>> {
    return this.#rows.sequences();
  }

  async origin(): Promise<Origin> {
    const first = this.database.prepare("select id from account order by key limit 1").get();
    // Grows with each start of a service (`sqlite/open-mark.ts`).
    const mark = this.database.prepare("pragma user_version").get();
    const sequences = [...(await this.sequences())].map(([name, highest]) => `${name} ${highest}`);
    return { service: String(first?.id ?? ""), state: `folder ${mark?.user_version}, ${sequences.join(", ")}` };
  }

  async bytes(): Promise<number> {
    const file = databaseOf(this.shown);
    const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
    return size(file) + size(`${file}-wal`);
  }

  async keyIds(): Promise<readonly string[]> {
    return keyIdsOf(this.database);
  }

  async close(): Promise<void> {
    this.database.close();
    giveLockToOwner(this.shown);
    this.#lock.release();
  }
}
