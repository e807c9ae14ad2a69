import type { Effect } from "../model/effects.ts";
import type { Exchange } from "./exchange.ts";
import type { GatewayLimits } from "./limits.ts";
import type { Speaker } from "./speaker.ts";
import type { CloseCause } from "./types.ts";

/**
 * Whether a peer sends anything of use, and when it is to be closed because it does not.
 *
 * Of use is what says which registered device speaks, and what such a device reports, asks or answers. All other bytes
 * are junk: those between messages, messages that could not be used, and whatever comes before the device is known, if
 * it does not say who it is. A message of use makes up for all junk before it; one that holds nothing (a keep-alive)
 * for no more bytes than its own, so that it is no cover for noise.
 */
export class Conduct {
  /** Bytes since the last message of use. */
  #junk = 0;
  /** Messages since the device that speaks was refused. */
  #refused = 0;

  /** Bytes between messages that belong to none. */
  skipped(count: number): void {
    this.#junk += count;
  }

  /**
   * Judges a message of `length` bytes once all its effects were interpreted. Gives why its peer is to be closed, if it
   * is.
   */
  verdict(
    { failed, useless }: Exchange,
    length: number,
    effects: readonly Effect[],
    { device, ids, turned }: Speaker,
    limits: GatewayLimits,
  ): CloseCause | undefined {
    // What a refused device sends is bounded by its number of messages.
    if (useless || (device === undefined && ids === undefined)) this.#junk += Math.max(1, length);
    else if (device !== undefined && this.#junk > 0)
      this.#junk = failed || effects.every(isIgnored) ? Math.max(0, this.#junk - length) : 0;
    if (this.#junk > limits.junkBytes) return "junk";
    if (device !== undefined) this.#refused = 0;
    else if (ids !== undefined && ++this.#refused > limits.refusedMessages) return turned ?? "unknown";
    return undefined;
  }
}

function isIgnored({ type }: Effect): boolean {
  return type === "ignored";
}
