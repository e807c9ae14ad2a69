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
