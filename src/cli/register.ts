import { type ApiClient, ApiFailure } from "./client.ts";
import type { Host } from "./host.ts";
import { inParallel } from "./parallel.ts";
import { Progress } from "./progress.ts";
import { records } from "./text.ts";

/** A device to be registered. */
export interface NewDevice {
  readonly id: string;
  readonly name: string;
  readonly tags: { readonly [name: string]: string };
}

/** Registers those of the devices that are not registered yet. */
export async function registerDevices(host: Host, client: ApiClient, devices: readonly NewDevice[]): Promise<void> {
  const known = new Set(records((await client.call("GET", "/api/devices")).devices).map(({ id }) => id));
  const missing = devices.filter(({ id }) => !known.has(id));
  const progress = new Progress(host);
  let done = 0;
  await inParallel(8, missing, async ({ id, name, tags }) => {
    try {
      await client.call("POST", "/api/devices", { id, name, tags });
    } catch (error) {
      // Another process may have been faster, or the device expired and is not in the list.
      if (!(error instanceof ApiFailure) || error.text !== "device already exists") throw error;
    }
    done += 1;
    progress.show(() => `${done} of ${missing.length} devices registered`);
  });
  progress.end();
}
