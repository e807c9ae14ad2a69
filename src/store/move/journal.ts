import type { Key } from "./rows.ts";
import { readKey, writeKey } from "./rows.ts";

/*
 * A store that is being filled has a table of its own, `store_move`, in which each batch of rows writes how far the move is, in its own transaction. So a move goes on where it
 * stopped, whatever stopped it. The table goes when the move has ended.
 */

/** How far a move is. */
export interface Position {
  /** The table that is being copied; those before it are done. Undefined: none is begun. */
  readonly table: string | undefined;
  /** Rows up to this key are copied. */
  readonly after: Key | undefined;
}

/** Where a store comes from. */
export interface Origin {
  /** Public id of its first account: that of the service. */
  readonly service: string;
  /** What changes each time that a service uses it. */
  readonly state: string;
}

/** What a store that is being filled knows of its move. */
export interface Journal {
  readonly origin: Origin;
  readonly at: Position;
  /** Version of the tables. */
  readonly version: number;
}

/** The table of the journal. */
export const journalTable = "store_move";
/** How both engines make it. */
export const makeJournal = `create table ${journalTable} (name text primary key, value text not null)`;

/** A position as text. */
export function writePosition({ table, after }: Position): string {
  return JSON.stringify({ table, after: after && writeKey(after) });
}

/** Reads what the rows of the table say. */
export function readJournal(values: ReadonlyMap<string, string>, version: number): Journal {
  const { service, state } = Object(JSON.parse(values.get("origin") ?? "null"));
  const { table, after } = Object(JSON.parse(values.get("at") ?? "null"));
  return {
    origin: { service: String(service), state: String(state) },
    at: {
      table: typeof table === "string" ? table : undefined,
      after: typeof after === "string" ? readKey(after) : undefined,
    },
    version,
  };
}

/** Rows of a new journal. */
export function journalOf({ service, state }: Origin): readonly (readonly [name: string, value: string])[] {
  return [
    ["origin", JSON.stringify({ service, state })],
    ["at", writePosition({ table: undefined, after: undefined })],
  ];
}
