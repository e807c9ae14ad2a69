import type { Effect } from "./effects.ts";

/**
 * An effect as JSON: times as RFC 3339 (one that no calendar has stays a number), bytes as hex, all else as it is.
 * `waybeam decode`, the trace and the vectors use this form.
 */
export type EffectJson = { readonly type: Effect["type"] } & { readonly [field: string]: unknown };

/** The JSON form of an effect, with its fields in the order of the type. */
export function effectJson(effect: Effect): EffectJson {
  if (effect.type === "reply") return { type: effect.type, bytes: effect.bytes.toHex(), when: effect.when };
  if ((effect.type === "fix" || effect.type === "readings") && effect.time !== undefined && isTime(effect.time))
    return { ...effect, time: new Date(effect.time).toISOString() };
  return { ...effect };
}

/** Whether a `Date` holds this many milliseconds (ECMA-262, 21.4.1.1). */
export function isTime(time: number): boolean {
  return Math.abs(time) <= 8.64e15;
}
