import type { DeviceKey } from "./device.ts";

/** What a mute applies to: a device with all rules, or a rule (by its public id) with all devices. */
export type MuteTarget = { readonly device: DeviceKey } | { readonly rule: string };

/**
 * Nobody is told of the alerts of a device or a rule for a time. The alerts are found and stored all the same, and
 * commands go out.
 */
export interface NewMute {
  readonly accountKey: number;
  readonly target: MuteTarget;
  readonly since: number;
  /** When the mute ends. */
  readonly until: number;
  /** The e-mail address that the user had who set the mute. */
  readonly user: string;
  readonly note: string | null;
  /** The mute includes critical alerts. */
  readonly critical: boolean;
}

/** A stored mute. It is deleted some time after its end. */
export interface Mute extends NewMute {
  readonly key: number;
}

/** The longest mute, days. A forgotten mute ends by itself. */
export const mostMuteDays = 30;

/** Why nobody is told of an alert. Undefined: no mute in force applies to it. */
export function mutedBy(
  mutes: readonly Mute[],
  { critical }: { readonly critical: boolean },
  now: number,
): string | undefined {
  const mute = mutes.find((each) => now < each.until && (each.critical || !critical));
  if (mute === undefined) return undefined;
  const what = "device" in mute.target ? "device" : "rule";
  return `the ${what} is muted until ${new Date(mute.until).toISOString()}, by ${mute.user}`;
}
