import { named } from "./change.ts";
import type { Answer, ApiClient } from "./client.ts";
import { listIn } from "./print.ts";

/** Path of the zones. */
export const zonesPath = "/api/geofences";

/** The zones that have the given ids, or else the given names. */
export async function findZones(
  client: ApiClient,
  given: readonly string[],
): Promise<readonly ({ readonly id: string } & Answer)[]> {
  const all = listIn(await client.call("GET", zonesPath), "geofences");
  return given.map((each) => named("zone", all, each));
}

/** Path of one zone. */
export function zonePath({ id }: { readonly id: string }): string {
  return `${zonesPath}/${encodeURIComponent(id)}`;
}
