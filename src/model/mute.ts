import type { DeviceKey } from "./device.ts";

/** What is muted: all alerts of a device, or a rule (by its public id) for all devices. */
export type MuteTarget = { readonly device: DeviceKey } | { readonly rule: string };

/** Nobody is told of the alerts of a device or a rule for a time. The alerts are found and stored all the same, and commands go out. */
export interface NewMute {
  readonly accountKey: number;
  readonly target: MuteTarget;
  readonly since: number;
  /** From this moment on people are told again. */
  readonly until: number;
  /** E-mail address of who muted it, as it was then. */
  readonly user: string;
  readonly note: string | null;
  /** Critical alerts are muted as well. */
  readonly critical: boolean;
}

/** A mute as it is kept, for some time after its end too. */
export interface Mute extends NewMute {
  readonly key: number;
}

/** The longest mute, days: one that is forgotten ends by itself. */
export const mostMuteDays = 30;

/** Why nobody is told of an alert; undefined: no mute that is in force holds for it. */
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
