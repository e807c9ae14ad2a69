import type { Mute, MuteTarget, NewMute } from "../model/mute.ts";
import type { Page, PageAsk } from "./pages.ts";

/** Mutes of devices and rules. Each has one at most; it goes with its device or rule. */
export interface MuteStore {
  /** Mutes something, in place of the mute that it has. */
  set(mute: NewMute): Promise<void>;
  /** Those of the targets, also ones that have ended. */
  some(targets: readonly MuteTarget[]): Promise<readonly Mute[]>;
  /** Those of an account that end after `now`, in the order in which things were first muted. */
  page(accountKey: number, now: number, ask: PageAsk): Promise<Page<Mute>>;
  /** Ends the mute of something, where it has one. */
  remove(target: MuteTarget): Promise<void>;
  /** Deletes those that ended before then, at most so many; how many. */
  prune(before: number, limit: number): Promise<number>;
}
