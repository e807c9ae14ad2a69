import type { NewShare, Share } from "../model/share.ts";
import type { Page, PageAsk } from "./pages.ts";

/** Whose shares are meant: those of a user, or all of its account. */
export interface SharesOf {
  readonly accountKey: number;
  /** Absent: of all its users. */
  readonly userKey?: number;
}

/** Links to devices and groups. A user's are deleted with the user, those to a device or group with that. */
export interface ShareStore {
  /** `full`: the user has `most` that have not ended · `missing`: the user is gone. */
  create(share: NewShare, most: number): Promise<Share | "full" | "missing">;
  /** Also one that has ended. */
  find(tokenHash: string): Promise<Share | undefined>;
  /** Those that have not ended, the newest first. */
  page(of: SharesOf, now: number, ask: PageAsk): Promise<Page<Share>>;
  /** Gives what it deleted; undefined: there was none. */
  remove(of: SharesOf, id: string): Promise<Share | undefined>;
  /** Deletes at most `limit` that expired before `before`. Returns how many it deleted. */
  prune(before: number, limit: number): Promise<number>;
}
