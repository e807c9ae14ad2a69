import type { Generated, Selectable } from "kysely";

/** Links to devices and groups: see `Share`. */
export interface ShareTable {
  key: Generated<number>;
  id: string;
  account: number;
  user: number;
  /** Null: it is a link to a group. */
  device: number | null;
  group_id: string | null;
  name: string;
  token_hash: string;
  creation: number;
  expires: number;
}

/** A share as read. */
export type ShareRow = Selectable<ShareTable>;
