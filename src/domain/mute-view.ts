import type { MuteView } from "../contract/mute.ts";
import { formatInstant } from "../contract/time.ts";
import type { Mute } from "../model/mute.ts";

/** A mute as answers show it; null: none is in force. */
export function muteView(mute: Mute | undefined, now: number): MuteView | null {
  return mute === undefined || now >= mute.until ? null : viewOf(mute);
}

/** A mute as answers show it. */
export function viewOf({ since, until, user, note, critical }: Omit<Mute, "key">): MuteView {
  return { since: formatInstant(since), until: formatInstant(until), user, note, critical };
}
