/**
 * Asks a list for the rows after a place: at most `limit`, and at most `bytes` stored bytes unless the first row has
 * more.
 */
export interface PageAsk<K = number> {
  /** Absent: from the start. */
  readonly after?: K | undefined;
  readonly limit: number;
  readonly bytes: number;
}

/** Rows of a list, and whether others follow them. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly more: boolean;
}

/** Bytes of a page that internal work goes through. */
export const workBytes = 1_048_576;

/** All rows of a list, page by page, so that no more than one page is in memory. */
export async function* eachOf<T extends { readonly key: number }>(
  page: (ask: PageAsk) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  for (let after: number | undefined; ; ) {
    const { rows, more } = await page({ after, limit: 1000, bytes: workBytes });
    yield* rows;
    after = rows.at(-1)?.key;
    if (!more || after === undefined) return;
  }
}
