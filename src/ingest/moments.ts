import type { DeviceKey } from "../model/device.ts";
import type { DeviceState, LocationRecord } from "../model/location.ts";
import type { LocationStore } from "../ports/store.ts";
import type { Plan } from "./plan.ts";

/** Bytes held at most (an estimate): 500,000 hashes. A moment that has more by itself is read again for each batch. */
const mostBytes = 20 * 1024 * 1024;
/** What a hash takes; and a moment and its newest record beside that record's texts. */
const hashBytes = 40;
const momentBytes = 1000;

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
  readonly #mostBytes: number;
  #bytes = 0;

  constructor(store: Pick<LocationStore, "moment">, most = mostBytes) {
    this.#store = store;
    this.#mostBytes = most;
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
    const bytes = bytesOf(read);
    if (bytes <= this.#mostBytes) {
      this.#known.set(device, read);
      this.#grown(bytes);
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
      const bytes = bytesOf(known);
      for (const hash of hashes) known.hashes.add(hash);
      known.newest = newest;
      known.arrivals = state.arrivals;
      this.#grown(bytesOf(known) - bytes);
    };
  }

  #grown(bytes: number): void {
    this.#bytes += bytes;
    for (const device of this.#known.keys()) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#drop(device);
    }
  }

  #drop(device: DeviceKey): void {
    const known = this.#known.get(device);
    if (known === undefined) return;
    this.#bytes -= bytesOf(known);
    this.#known.delete(device);
  }
}

/** Memory that a moment takes (an estimate). */
function bytesOf({ hashes, newest }: KnownMoment): number {
  const texts = (newest?.extras.length ?? 0) + (newest?.alerts?.length ?? 0);
  return momentBytes + hashes.size * hashBytes + 2 * texts;
}
