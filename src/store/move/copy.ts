import { setImmediate as nextTurn } from "node:timers/promises";
import type { LongWork } from "../backup/refused.ts";
import type { Key, Table } from "./rows.ts";
import type { SourceSide, TargetSide } from "./sides.ts";

/** Copies what is not copied yet: table by table, each in the order of its keys. */
export async function copyAll(
  tables: readonly Table[],
  source: SourceSide,
  target: TargetSide,
  { signal, progress }: LongWork,
): Promise<void> {
  const { table: begun, after: reached } = target.journal?.at ?? { table: undefined, after: undefined };
  const from = Math.max(
    0,
    tables.findIndex(({ name }) => name === begun),
  );
  const all = await source.bytes();
  let [rows, bytes] = [0, 0];
  for (const [index, table] of tables.entries()) {
    if (index < from) continue;
    let after: Key | undefined = index === from ? reached : undefined;
    for (let more = true; more; await nextTurn()) {
      // A signal is heard between two pages.
      signal.throwIfAborted();
      const page = await source.page(table, after);
      more = page.next !== undefined;
      if (more || page.rows.length > 0) await target.put(table, page.rows, page.next ?? lastKey(table, page.rows));
      after = page.next;
      rows += page.rows.length;
      bytes += page.bytes;
      progress(() => `copying ${table.name}: ${rows} rows, ${megabytes(bytes)} of about ${megabytes(all)}`);
    }
  }
}

function lastKey({ keyAt }: Table, rows: readonly (readonly Key[number][])[]): Key | undefined {
  const last = rows.at(-1);
  return last && keyAt.map((at) => last[at] ?? null);
}

/** Bytes for people. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
