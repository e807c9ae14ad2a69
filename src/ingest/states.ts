import { bytesOfState } from "../fold/state.ts";
import type { DeviceKey } from "../model/device.ts";
import { arrivalOf, type DeviceState } from "../model/location.ts";
import { locationJson } from "../model/location-json.ts";
import type { LastLocations, Latest } from "../ports/last-location.ts";
import type { LocationStore } from "../ports/store.ts";

/** Device states kept in memory, mostly 1 to 2 KB each; the ones used longest ago make room and are read again when needed. */
const rememberedStates = 50_000;
/** And their bytes: with many rules or long texts a state has a hundred kilobytes. */
const rememberedBytes = 128 * 1024 * 1024;

interface Entry {
  readonly state: DeviceState;
  readonly bytes: number;
  /** The last location's JSON, made when first asked for, with the odometer start it was made for. */
  json: string | undefined;
  odometerStart: number;
}

/** The states of devices as last committed, in memory. */
export class States {
  readonly #store: Pick<LocationStore, "states">;
  readonly #entries = new Map<DeviceKey, Entry>();
  /** The read under way that may be remembered of each device; a commit meanwhile, or that it is forgotten, makes it too old. */
  readonly #reading = new Map<DeviceKey, object>();
  readonly #capacity: number;
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(store: Pick<LocationStore, "states">, capacity = rememberedStates, mostBytes = rememberedBytes) {
    this.#mostBytes = mostBytes;
    this.#store = store;
    this.#capacity = capacity;
  }

  get(device: DeviceKey): DeviceState | undefined {
    return this.#entries.get(device)?.state;
  }

  /** Reads states that are not in memory, and remembers them as far as there is room. */
  async load(missing: readonly DeviceKey[]): Promise<ReadonlyMap<DeviceKey, DeviceState>> {
    const read = {};
    for (const device of missing) this.#reading.set(device, read);
    const loaded = new Map<DeviceKey, DeviceState>();
    try {
      const states = await this.#store.states(missing);
      missing.forEach((device, index) => {
        const state = states[index];
        if (state === undefined) return;
        loaded.set(device, state);
        if (this.#reading.get(device) === read) this.#put(device, state);
      });
    } finally {
      for (const device of missing) if (this.#reading.get(device) === read) this.#reading.delete(device);
    }
    return loaded;
  }

  committed(device: DeviceKey, state: DeviceState): void {
    this.#reading.delete(device);
    this.#put(device, state);
  }

  forget(device: DeviceKey): void {
    this.#reading.delete(device);
    this.#drop(device);
  }

  /** JSON of the device's last location; undefined where it never reported one. */
  lastLocation(device: DeviceKey, odometerStart: number): string | undefined | Promise<string | undefined> {
    const entry = this.#entries.get(device);
    if (entry !== undefined) return lastJson(entry, odometerStart);
    return this.#loaded(device).then((loaded) => loaded && lastJson(loaded, odometerStart));
  }

  /** What the device reported last. */
  latest(device: DeviceKey, odometerStart: number): Latest | Promise<Latest> {
    const entry = this.#entries.get(device);
    if (entry !== undefined) return latestOf(entry, odometerStart);
    return this.#loaded(device).then((loaded) => latestOf(loaded, odometerStart));
  }

  async #loaded(device: DeviceKey): Promise<Entry | undefined> {
    const state = (await this.load([device])).get(device);
    // A commit while this was read has put a newer one.
    return this.#entries.get(device) ?? (state && { state, bytes: 0, json: undefined, odometerStart: 0 });
  }

  #put(device: DeviceKey, state: DeviceState): void {
    const entry = this.#entries.get(device);
    const bytes = bytesOfState(state);
    this.#bytes += bytes - (entry?.bytes ?? 0);
    // Deleting first moves the entry to the end of the map's order; only near the limit does that order matter.
    if (entry !== undefined && (this.#entries.size > this.#capacity / 2 || this.#bytes > this.#mostBytes / 2))
      this.#entries.delete(device);
    this.#entries.set(device, { state, bytes, json: undefined, odometerStart: 0 });
    if (this.#entries.size <= this.#capacity && this.#bytes <= this.#mostBytes) return;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#capacity && this.#bytes <= this.#mostBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(device: DeviceKey): void {
    this.#bytes -= this.#entries.get(device)?.bytes ?? 0;
    this.#entries.delete(device);
  }
}

/** The states as the API reads them. */
export function lastLocationsOf(states: States): LastLocations {
  return {
    lastLocation: ({ key, odometerStart }) => states.lastLocation(key, odometerStart),
    latest: ({ key, odometerStart }) => states.latest(key, odometerStart),
  };
}

function latestOf(entry: Entry | undefined, odometerStart: number): Latest {
  if (entry === undefined) return { json: undefined, position: undefined, receivedAt: undefined };
  const { state } = entry;
  return { json: lastJson(entry, odometerStart), position: state.last, receivedAt: arrivalOf(state) };
}

function lastJson(entry: Entry, odometerStart: number): string | undefined {
  if (entry.state.last === undefined) return undefined;
  if (entry.json === undefined || entry.odometerStart !== odometerStart) {
    entry.json = locationJson(entry.state.last, odometerStart);
    entry.odometerStart = odometerStart;
  }
  return entry.json;
}
