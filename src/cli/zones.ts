import { named } from "./change.ts";
import type { Answer, ApiClient } from "./client.ts";
import { listAll } from "./pages.ts";

/** Path of the zones. */
export const zonesPath = "/api/geofences";

/** The zones that have the given ids, or else the given names. */
export async function findZones(
  client: ApiClient,
  given: readonly string[],
): Promise<readonly ({ readonly id: string } & Answer)[]> {
  const all = await listAll(client, zonesPath, "geofences");
  return given.map((each) => named("zone", all, each));
}

/** Path of one zone. */
export function zonePath({ id }: { readonly id: string }): string {
  return `${zonesPath}/${encodeURIComponent(id)}`;
}
