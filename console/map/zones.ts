import { allPages, answer, api } from "../api/client.ts";
import type { components } from "../api/schema.ts";

/** A zone of the account. */
export type Zone = components["schemas"]["Geofence"];

/** All zones of the account. */
export function readZones(): Promise<readonly Zone[]> {
  return allPages(
    (cursor) => answer(api.GET("/api/geofences", { params: { query: cursor ? { cursor } : {} } })),
    (page) => page.geofences,
  );
}
