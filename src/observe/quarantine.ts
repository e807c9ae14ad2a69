import type { Clock } from "../ports/clock.ts";
import type { Quarantine, QuarantinedDevice } from "../ports/quarantine.ts";

/** Unknown devices that are remembered: enough to see a new fleet arrive, some hundred kilobytes at most. */
const defaultCapacity = 1000;
/** Identifiers kept of one device, and characters of each: trackers report one to three, of at most 64; the rest is somebody's junk. */
const maximumIds = 4;
const maximumIdLength = 64;

/** A quarantine in memory. `list` gives the last seen first. */
export function createQuarantine(clock: Clock, capacity = defaultCapacity): Quarantine {
  // A Map keeps the order of insertion, so its first entry is the one not seen for longest.
  const devices = new Map<string, QuarantinedDevice>();
  return {
    add(ids, protocol, address) {
      const kept = ids.slice(0, maximumIds).map((id) => id.slice(0, maximumIdLength));
      const key = `${protocol} ${kept.join(" ")}`;
      const known = devices.get(key);
      const now = clock.now();
      devices.delete(key);
      devices.set(key, {
        ids: known?.ids ?? kept,
        protocol,
        address,
        firstSeen: known?.firstSeen ?? now,
        lastSeen: now,
        attempts: (known?.attempts ?? 0) + 1,
      });
      if (devices.size > capacity) for (const oldest of devices.keys()) return void devices.delete(oldest);
    },
    list: () => [...devices.values()].reverse(),
  };
}
