import type { Alert } from "../live/events.ts";

/** Which alerts are wanted. */
export interface AlertFilter {
  readonly device?: string | undefined;
  readonly state?: "open" | "acknowledged" | "closed" | undefined;
  readonly critical?: boolean | undefined;
}

/** What was loaded, as it is now, and what came since; the newest first. `heard`: alerts of the stream by id. */
export function alertsNow(
  loaded: readonly Alert[],
  heard: ReadonlyMap<string, Alert>,
  filter: AlertFilter,
): readonly Alert[] {
  const known = new Set(loaded.map(({ id }) => id));
  const fresh = [...heard.values()].filter(({ id }) => !known.has(id));
  return [...fresh, ...loaded.map((alert) => heard.get(alert.id) ?? alert)]
    .filter((alert) => isWanted(alert, filter))
    .toSorted((left, right) => right.dateTime.localeCompare(left.dateTime));
}

function isWanted(alert: Alert, { device, state, critical }: AlertFilter): boolean {
  if (device !== undefined && alert.deviceId !== device) return false;
  if (state !== undefined && alert.state !== state) return false;
  return critical === undefined || alert.critical === critical;
}
