import { type Cell, hasNumbers, type Key, keyText, type Page, type Table } from "./rows.ts";

/** Rows of one page lie next to each other, so a damaged page holds at most this many. */
const nearby = 4096n;
/** No row has a higher number. */
const highest = 2n ** 53n;

/** Rows that can't be read. */
interface LostRows {
  readonly first: bigint;
  /** Undefined: all that follow. */
  readonly last: bigint | undefined;
}

/**
 * Finds the end of rows that can't be read. `next` returns the number of the first row behind a number, undefined behind the last row, and "damaged" if that row can't be read.
 */
async function lostAfter(
  after: bigint,
  next: (after: bigint) => bigint | undefined | "damaged" | Promise<bigint | undefined | "damaged">,
): Promise<LostRows> {
  for (let distance = 1n; after + distance <= highest; distance += distance < nearby ? 1n : distance) {
    const found = await next(after + distance);
    if (found === "damaged") continue;
    return { first: after + 1n, last: found === undefined ? undefined : found - 1n };
  }
  return { first: after + 1n, last: undefined };
}

/** Says which rows of a table can't be read. */
function lostText(table: string, { first, last }: LostRows): string {
  if (last === undefined) return `the table ${table} can't be read from row ${first} on`;
  const rows = first === last ? `row ${first}` : `rows ${first} to ${last}`;
  return `${rows} of the table ${table} can't be read`;
}

/**
 * The page in the place of rows of a table that can't be read. `next` gives the key of the first row behind a number, or "damaged". Of a table whose rows have no numbers, all that follow
 * are lost.
 */
export async function skipped(
  table: Table,
  after: Key | undefined,
  next: (after: bigint) => Promise<Cell | undefined | "damaged">,
): Promise<Page> {
  const nothing = { rows: [], bytes: 0 };
  const { name } = table;
  if (!hasNumbers(table)) {
    const from = after === undefined ? "" : ` behind ${keyText(after)}`;
    return { ...nothing, next: undefined, told: [`the table ${name} can't be read${from}`] };
  }
  const [before] = after ?? [];
  const lost = await lostAfter(typeof before === "bigint" ? before : 0n, async (from) => {
    const found = await next(from);
    return found === "damaged" || typeof found === "bigint" ? found : undefined;
  });
  return { ...nothing, next: lost.last === undefined ? undefined : [lost.last], told: [lostText(name, lost)] };
}
