import { setTimeout as delay } from "node:timers/promises";
import { type Answer, ApiClient } from "./client.ts";
import type { Credentials } from "./credentials.ts";
import { CliError } from "./exit.ts";
import { Progress, type ProgressHost } from "./progress.ts";
import { isRecord, plain } from "./text.ts";

/** Between two tries while the stream can't be had, ms. */
const retryMs = 2000;

/**
 * Shows on standard error what the live stream tells of devices: how many report, and the last position of all. Ends
 * with the signal.
 */
export async function watchStream(host: ProgressHost, credentials: Credentials, signal: AbortSignal): Promise<void> {
  const client = new ApiClient(credentials, { signal });
  const progress = new Progress(host);
  const seen = new Set<unknown>();
  let positions = 0;
  try {
    while (!signal.aborted) {
      try {
        for await (const { event, data } of client.events("/api/stream?kind=location")) {
          if (event !== "location" || !isRecord(data.location)) continue;
          const { deviceId, location } = data;
          seen.add(deviceId);
          positions++;
          progress.show(() => `${seen.size} devices, ${positions} positions; ${plain(deviceId)} ${placeOf(location)}`);
        }
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
      }
      await delay(retryMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    progress.end();
  }
}

function placeOf({ latitude, longitude, speed }: Answer): string {
  const at = `at ${Number(latitude).toFixed(5)}, ${Number(longitude).toFixed(5)}`;
  return typeof speed === "number" ? `${at}, ${Math.round(speed)} km/h` : at;
}
