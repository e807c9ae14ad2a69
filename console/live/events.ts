import type { components } from "../api/schema.ts";
import type { LivePosition } from "./store.ts";

/** A position with what was reported with it. */
export type Location = components["schemas"]["Location"];
/** An alert with its device. */
export type Alert = components["schemas"]["AccountAlert"];
/** A command and what became of it. */
export type Command = components["schemas"]["Command"];

/** How a device is connected. */
export interface Status {
  readonly connected: boolean;
  readonly protocol?: string;
  /** When it last said anything; absent: never. */
  readonly lastContact?: string | null;
}

/** What the stream tells, by the name of the event. */
export interface StreamEvents {
  readonly location: { readonly deviceId: string; readonly location: Location | null; readonly status?: Status };
  readonly status: { readonly deviceId: string; readonly status: Status };
  readonly alert: Alert;
  readonly command: { readonly deviceId: string; readonly command: Command };
  /** A device was deleted, has expired, or has another id now. */
  readonly gone: { readonly deviceId: string };
  readonly live: unknown;
  readonly reset: unknown;
}

/** Names of the events. */
export const eventNames = ["location", "status", "alert", "command", "gone", "live", "reset"] as const;

/** A location as the store keeps it. */
export function positionOf(location: Location): LivePosition {
  return {
    longitude: location.longitude,
    latitude: location.latitude,
    speed: location.speed ?? 0,
    course: location.course ?? 0,
    fixAt: Date.parse(location.dateTime),
    ignition: location.attributes.ignition === "true",
    critical: location.hasCriticalAlert,
  };
}
