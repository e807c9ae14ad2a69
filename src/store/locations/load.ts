import type { Locations } from "./locations.ts";
import type { Purger } from "./purger.ts";

/** Finds what is stored. If that fails, ends what it began in the background, which would go on without a store and keep the process from ending. */
export async function load(locations: Locations, purger: Purger): Promise<void> {
  try {
    await locations.load();
    await purger.resume();
  } catch (error) {
    locations.blocks.close();
    await Promise.all([locations.sealer.close(), purger.close()]);
    throw error;
  }
}
