import { type SelectQueryBuilder, sql } from "kysely";
import type { Schema } from "../schema.ts";

/** Rows of one question of a long list: what the engine's thread holds at once, and how long other questions wait. */
export const pageRows = 1000;

/** All rows of a list, asked for page by page; `page` gives at most so many rows that follow the last one known. */
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
