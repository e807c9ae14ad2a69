import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Page, PageAsk } from "../../ports/pages.ts";
import type { Schema } from "../schema.ts";

/** Rows of one question of a long list: what the engine's thread holds at once, and how long other questions wait. */
export const pageRows = 1000;

/** Returns all rows of a list, page by page. `page` returns up to a number of rows that follow the last one known. */
export async function allPages<R>(
  page: (last: R | undefined, limit: number) => Promise<readonly R[]>,
  limit = pageRows,
): Promise<readonly R[]> {
  const all: R[] = [];
  for (;;) {
    const rows = await page(all.at(-1), limit);
    for (const row of rows) all.push(row);
    if (rows.length < limit) return all;
  }
}

/** All rows of a query in the order of their keys, page by page. */
export function allByKey<T extends keyof Schema, R extends { readonly key: number }>(
  query: SelectQueryBuilder<Schema, T, R>,
  limit = pageRows,
): Promise<readonly R[]> {
  const key = sql.ref<number>("key");
  return allPages<R>(
    (last, most) =>
      query
        .where(key, ">", last?.key ?? 0)
        .orderBy(key)
        .limit(most)
        .execute(),
    limit,
  );
}

/** A row's key and its stored bytes. */
interface Sized {
  readonly key: number;
  readonly bytes: number;
}

/**
 * One page of a list in the order of its keys. `sizes` and `rows` ask for the same rows; the sizes are asked for first,
 * so that no more is read than the page holds. A page has a row at least, however large.
 */
export async function pageByKey<T extends keyof Schema, R extends { readonly key: number }>(
  sizes: SelectQueryBuilder<Schema, T, Sized>,
  rows: SelectQueryBuilder<Schema, T, R>,
  { after, limit, bytes }: PageAsk,
  order: "asc" | "desc" = "asc",
): Promise<Page<R>> {
  const key = sql.ref<number>("key");
  const beyond = order === "asc" ? ">" : "<";
  const begin = after ?? (order === "asc" ? 0 : Number.MAX_SAFE_INTEGER);
  const found = await sizes
    .where(key, beyond, begin)
    .orderBy(key, order)
    .limit(limit + 1)
    .execute();
  const count = fitting(found, limit, bytes);
  const last = found[count - 1]?.key;
  if (last === undefined) return { rows: [], more: false };
  const page = await rows
    .where(key, beyond, begin)
    .where(key, order === "asc" ? "<=" : ">=", last)
    .orderBy(key, order)
    .execute();
  return { rows: page, more: count < found.length };
}

/** How many of the rows fit a page. */
export function fitting(sizes: readonly Pick<Sized, "bytes">[], limit: number, most: number): number {
  let sum = 0;
  let count = 0;
  for (const { bytes } of sizes) {
    sum += Number(bytes);
    if (count === limit || (count > 0 && sum > most)) break;
    count++;
  }
  return count;
}

/** Stored bytes of columns that hold text of any length, and some for the others. */
export function bytesOf(...columns: readonly string[]): RawBuilder<number> {
  const parts = columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  return sql<number>`${sql.join(parts, sql` + `)} + 200`;
}

/** Returns the rows with these ids in the order of their keys, some ids at a time. */
export async function someByKey<R extends { readonly key: number }>(
  ids: readonly string[],
  atOnce: number,
  find: (some: readonly string[]) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  const asked = [...new Set(ids)];
  const rows: R[] = [];
  for (let at = 0; at < asked.length; at += atOnce) rows.push(...(await find(asked.slice(at, at + atOnce))));
  return rows.toSorted((one, other) => one.key - other.key);
}

/** Ids in one question of which of them there are. */
const askedIds = 500;

/** Those of the ids that there are, asked for some at a time. */
export async function existingIds(
  ids: readonly string[],
  find: (some: readonly string[]) => Promise<readonly { readonly id: string }[]>,
): Promise<ReadonlySet<string>> {
  const all = new Set<string>();
  const asked = [...new Set(ids)];
  for (let at = 0; at < asked.length; at += askedIds)
    for (const { id } of await find(asked.slice(at, at + askedIds))) all.add(id);
  return all;
}

/** Rows in their order, some at a time. */
export function* partsOf<R>(rows: readonly R[], atOnce: number): Iterable<readonly R[]> {
  for (let at = 0; at < rows.length; at += atOnce) yield rows.slice(at, at + atOnce);
}
