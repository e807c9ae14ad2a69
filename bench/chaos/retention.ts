import { call } from "../../test/support/service.ts";
import type { Scene } from "./fault.ts";

/** A little more than the time from the start to the first look for old positions, ms (src/domain/retention.ts). */
export const nextLookMs = 301_000;
/** A little more than the time from the end of one look to the next, ms. */
export const nextRunMs = 3_601_000;

/** Asks again if there was no answer: when the clock jumps, the service closes the connections that count as idle. */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    // What `fetch` rejects with.
    if (!(error instanceof TypeError)) throw error;
    return ask();
  }
}

/** Sets for how many days the positions of some devices are kept. */
export async function setDays({ service }: Scene, devices: readonly string[], days: number | null): Promise<void> {
  for (const id of devices)
    await answered(() =>
      call(service, "PATCH", `/api/devices/${id}`, [{ op: "add", path: "/positionDays", value: days }]),
    );
}

/** How many positions the service has deleted since its start. */
export async function deletedPositions({ service }: Scene): Promise<number> {
  return Number(/^waybeam_positions_deleted_total (\d+)/m.exec(await answered(() => service.metrics()))?.[1] ?? 0);
}

/** How many positions of some devices are older than they are kept. */
export async function oldPositions({ service }: Scene, devices: readonly string[], days: number): Promise<number> {
  let positions = 0;
  for (const id of devices) {
    type Preview = { readonly oldPositions: { readonly positions: number } };
    const path = `/api/devices/${id}/oldPositions?days=${days}`;
    const { oldPositions: found } = await answered(() => call<Preview>(service, "GET", path));
    positions += found.positions;
  }
  return positions;
}
