import type { Page, PageAsk } from "../ports/pages.ts";

/** Entries of a list, and the place after which others follow; no place: they were the last. */
export interface Listed<T, K = number> {
  readonly items: readonly T[];
  readonly next?: K;
}

/** A page of the store as a part of a list. */
export function listedOf<T extends { readonly key: number }>({ rows, more }: Page<T>): Listed<T> {
  const last = more ? rows.at(-1) : undefined;
  return { items: rows, ...(last && { next: last.key }) };
}

/**
 * A part of a list of which the caller sees some: the first page that has any of them. It may be short, and never empty
 * while there are more; no more than one page is in memory.
 */
export async function firstSeen<T extends { readonly key: number }>(
  ask: PageAsk,
  read: (ask: PageAsk) => Promise<Page<T>>,
  seen: (rows: readonly T[]) => Promise<readonly T[]>,
): Promise<Listed<T>> {
  for (let { after } = ask; ; ) {
    const { rows, more } = await read({ ...ask, after });
    const last = more ? rows.at(-1) : undefined;
    const items = await seen(rows);
    if (last === undefined) return { items };
    if (items.length > 0) return { items, next: last.key };
    after = last.key;
  }
}
