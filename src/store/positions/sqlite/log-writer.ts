import type { DatabaseSync } from "node:sqlite";
import { inTransaction } from "../../sqlite/transaction.ts";
import { sealRow } from "../log-row.ts";
import type { DeviceChange, Opening, PositionWriterCalls } from "./messages.ts";
import { makeTables } from "./tables.ts";

/** Writes positions. It has the only connection that writes, in a thread of its own. */
export class LogWriter {
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof statementsOf>;
  #seq: number;

  constructor(database: DatabaseSync) {
    makeTables(database);
    this.#database = database;
    this.#statements = statementsOf(database);
    this.#seq = Number(this.#statements.lastSeq.get()?.seq ?? 0);
  }

  opening(): Opening {
    const { blocks, records } = this.#statements.sizes.get() ?? {};
    return {
      seq: this.#seq,
      followed: Number(this.#statements.followed.get()?.followed ?? 0),
      blocks: Number(blocks),
      records: Number(records),
    };
  }

  append(buffer: ArrayBuffer): number {
    const row = new Uint8Array(buffer);
    sealRow(row);
    this.#statements.append.run(this.#seq + 1, row);
    return ++this.#seq;
  }

  apply(changes: readonly DeviceChange[]): readonly boolean[] {
    return inTransaction(this.#database, () => changes.map((change) => this.#apply(change)));
  }

  #apply({ device, number, put, remove }: DeviceChange): boolean {
    const { hasBlock, removeBlock, putBlock } = this.#statements;
    if (remove.some(({ id }) => hasBlock.get(id) === undefined)) return false;
    for (const { id } of remove) removeBlock.run(id);
    for (const { first, last, count, data } of put) putBlock.run(device, first, last, number, count, data);
    return true;
  }

  deleteRows({ through, except, limit }: PositionWriterCalls["deleteRows"]["request"]): readonly number[] {
    return inTransaction(this.#database, () => {
      const deleted = this.#statements.deleteRows.all(through, JSON.stringify(except), limit);
      this.#statements.endLog.run(through);
      return deleted.map(({ bytes }) => Number(bytes));
    });
  }

  /** Writes a row. */
  check(): void {
    this.#statements.noteFollowed.run(0);
  }

  followed(seq: number): void {
    this.#statements.noteFollowed.run(seq);
  }

  keepFrom({ device, moment }: PositionWriterCalls["keepFrom"]["request"]): void {
    this.#statements.keepFrom.run(device, moment);
  }

  deleteBlocks({ device, moment, limit }: PositionWriterCalls["deleteBlocks"]["request"]): readonly number[] {
    const { oldBlocks, removeBlock } = this.#statements;
    return inTransaction(this.#database, () => {
      const old = oldBlocks.all(device, moment, moment, limit);
      for (const { id } of old) removeBlock.run(Number(id));
      return old.map(({ count }) => Number(count));
    });
  }
}

function statementsOf(database: DatabaseSync) {
  return {
    lastSeq: database.prepare(
      "select max((select coalesce(max(seq), 0) from log), (select coalesce(max(seq), 0) from log_end)) as seq",
    ),
    sizes: database.prepare("select count(*) as blocks, coalesce(sum(count), 0) as records from block"),
    append: database.prepare("insert into log (seq, data) values (?, ?)"),
    hasBlock: database.prepare("select 1 from block where id = ?"),
    removeBlock: database.prepare("delete from block where id = ?"),
    putBlock: database.prepare(
      "insert into block (device, first, last, number, count, data) values (?, ?, ?, ?, ?, ?)",
    ),
    deleteRows: database.prepare(
      "delete from log where seq in (select seq from log where seq <= ? and seq not in (select value from json_each(?)) order by seq limit ?) returning length(data) as bytes",
    ),
    endLog: database.prepare("update log_end set seq = max(seq, ?)"),
    followed: database.prepare("select followed from log_end"),
    noteFollowed: database.prepare("update log_end set followed = max(followed, ?)"),
    keepFrom: database.prepare(
      "insert into kept (device, since) values (?, ?) on conflict (device) do update set since = max(since, excluded.since)",
    ),
    oldBlocks: database.prepare("select id, count from block where device = ? and first < ? and last < ? limit ?"),
  };
}
