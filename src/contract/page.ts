import Type, { type Static, type TSchema } from "typebox";
import { cursorPattern, pageLimit } from "./forms.ts";

/** Entries of a page of our own lists, unless a limit is asked for. */
export const usualPage = 1000;

function query(unset: string) {
  return Type.Object({
    limit: Type.Optional(
      Type.String({
        pattern: pageLimit,
        description: `Entries of the page at most, 1 to 10,000; a page of large ones ends earlier. Unset: ${unset}.`,
        examples: ["100"],
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        pattern: cursorPattern,
        maxLength: 256,
        description: "The `nextCursor` of an answer with the same list, from which it goes on; no other.",
      }),
    ),
  });
}

/** Query of the contract's lists. Query parameters are texts. */
export const WholeQuery = query("all of them, or with a `cursor` 1,000");
export type WholeQuery = Static<typeof WholeQuery>;
/** Entries of a page of lists that people look through, unless a limit is asked for; and their query. */
export const shortPage = 100;
export const ShortPageQuery = query(String(shortPage));
/** Query of our own lists. */
export const PageQuery = query("1,000");
export type PageQuery = Static<typeof PageQuery>;

/** The fields of an answer with a list. */
export function listed<N extends string, S extends TSchema>(name: N, list: S) {
  return {
    [name]: list,
    nextCursor: Type.Optional(Type.String({ description: "Where the list goes on; absent: it ends here." })),
  } as { [K in N]: S } & { nextCursor: ReturnType<typeof nextCursor> };
}

function nextCursor() {
  return Type.Optional(Type.String());
}
