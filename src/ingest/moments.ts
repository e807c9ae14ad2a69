import type { DeviceKey } from "../model/device.ts";
import type { DeviceState, LocationRecord } from "../model/location.ts";
import type { LocationStore } from "../ports/store.ts";
import type { Plan } from "./plan.ts";

/** Content hashes held at most: some 40 bytes each. A moment that has more by itself is read again for each batch. */
const mostHashes = 500_000;

/** What is stored of one moment of a device. */
export interface KnownMoment {
  readonly time: number;
  readonly hashes: Set<number>;
  /** The record that arrived last. */
  newest: LocationRecord | undefined;
  /** Of the device's state: with another number there are other records. */
  arrivals: number;
}

/**
 * Which records of a moment are stored: one for each device, the last that was asked for. Of a clock that stands still all reports are of one moment, so that
 * each is looked for among all before it.
 */
export class Moments {
  readonly #store: Pick<LocationStore, "moment">;
  readonly #known = new Map<DeviceKey, KnownMoment>();
  readonly #most: number;
  #size = 0;

  constructor(store: Pick<LocationStore, "moment">, most = mostHashes) {
    this.#store = store;
    this.#most = most;
  }

  /** What memory has of a moment, as of this state of its device. */
  get(device: DeviceKey, { arrivals }: DeviceState, time: number): KnownMoment | undefined {
    const known = this.#known.get(device);
    if (known === undefined || known.arrivals !== arrivals || known.time !== time) return undefined;
    // Now it is the one that was used last.
    this.#known.delete(device);
    this.#known.set(device, known);
    return known;
  }

  /** The same, read where memory has it not. */
  async load(device: DeviceKey, state: DeviceState, time: number): Promise<KnownMoment> {
    const known = this.get(device, state, time);
    if (known !== undefined) return known;
    const { hashes, newest } = await this.#store.moment(device, time);
    const read = { time, hashes: new Set(hashes), newest, arrivals: state.arrivals };
    this.#drop(device);
    if (read.hashes.size <= this.#most) {
      this.#known.set(device, read);
      this.#grown(read.hashes.size);
    }
    return read;
  }

  /** To be called when this plan is stored, with its device's state before; undefined: memory has no moment of the device. The plan's records may be gone by then. */
  whenStored(device: DeviceKey, before: DeviceState, { records, state }: Plan): (() => void) | undefined {
    const known = this.#known.get(device);
    const [first] = records;
    if (known === undefined || first === undefined) return undefined;
    // Nothing changes before the first new record.
    if (first.time < known.time || known.arrivals !== before.arrivals) return () => this.#drop(device);
    const added = records.filter(({ time }) => time === known.time);
    const hashes = added.map(({ hash }) => hash);
    const newest = added.at(-1) ?? known.newest;
    return () => {
      if (this.#known.get(device) !== known) return;
      for (const hash of hashes) known.hashes.add(hash);
      known.newest = newest;
      known.arrivals = state.arrivals;
      this.#grown(hashes.length);
    };
  }

  #grown(hashes: number): void {
    this.#size += hashes;
    for (const [device] of this.#known) {
      if (this.#size <= this.#most) return;
      this.#drop(device);
    }
  }

  #drop(device: DeviceKey): void {
    this.#size -= this.#known.get(device)?.hashes.size ?? 0;
    this.#known.delete(device);
  }
}
