import type { operations } from "../api/schema.ts";

type Query = operations["exportLocations"]["parameters"]["query"];

/** What of a device's past is wanted as a file, and how a person reads it. */
export interface ExportWish {
  readonly format: Query["format"];
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly units: NonNullable<Query["units"]>;
}

/** Formats of a file, as the service has them. */
export const exportFormats = ["csv", "gpx", "kml", "geojson"] as const satisfies readonly Query["format"][];

/**
 * The address of a device's past as a file. The browser asks for it itself, with the session's cookie: a file may be
 * larger than what a page holds.
 */
export function exportAddress(deviceId: string, wish: ExportWish): string {
  return `/api/devices/${encodeURIComponent(deviceId)}/export?${new URLSearchParams({ ...wish })}`;
}
