/** Longest time that a rule can be told to wait, minutes: a year. */
const mostMinutes = 525_600;

/** A problem where a number is not within these bounds. */
export function within(name: string, value: number, least: number, most: number, unit = ""): readonly string[] {
  if (Number.isFinite(value) && value >= least && value <= most) return [];
  return [`${name} must be from ${least} to ${most}${unit && ` ${unit}`}`];
}

/** A problem where minutes are none that can be waited for. */
export function checkMinutes(minutes: number, least = 0): readonly string[] {
  return within("minutes", minutes, least, mostMinutes);
}

/** A problem where a rule names no zone. */
export function checkZones(zones: readonly string[]): readonly string[] {
  return zones.length === 0 ? ["zones must name at least one geofence"] : [];
}

/** Milliseconds of minutes. */
export const minuteMs = 60_000;

/** Minutes of milliseconds, to a hundredth: texts tell them to the second. */
export function minutesOf(ms: number): number {
  return Math.max(0, Math.round(ms / 600) / 100);
}

/** Two decimals are enough for any reading. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
