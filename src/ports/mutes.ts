import type { Mute, MuteTarget, NewMute } from "../model/mute.ts";
import type { Page, PageAsk } from "./pages.ts";

/** Mutes of devices and rules. A device or rule has at most one mute, which is deleted with it. */
export interface MuteStore {
  /** Stores a mute. It replaces the target's earlier one. */
  set(mute: NewMute): Promise<void>;
  /** The mutes of these targets, including those that have ended. */
  some(targets: readonly MuteTarget[]): Promise<readonly Mute[]>;
  /** The mutes of an account that end after `now`, in the order in which their targets were first muted. */
  page(accountKey: number, now: number, ask: PageAsk): Promise<Page<Mute>>;
  /** Deletes the target's mute, if there is one. */
  remove(target: MuteTarget): Promise<void>;
  /** Deletes at most `limit` mutes that ended before `before`. Returns how many it deleted. */
  prune(before: number, limit: number): Promise<number>;
}
