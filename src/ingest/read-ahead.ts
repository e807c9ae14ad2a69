import type { DeviceKey } from "../model/device.ts";
import { type DeviceState, placeBefore } from "../model/location.ts";
import type { Clock } from "../ports/clock.ts";
import type { LocationStore, PackedContext } from "../ports/store.ts";
import type { Moments } from "./moments.ts";
import type { Ahead, PendingDevice } from "./pending.ts";
import { readStretches, stretchRecords } from "./stretches.ts";
import { mostReadAhead, type Wanted } from "./wanted.ts";

/** The most records that may be read at a time for postponed reports: other requests wait for the same reader. */
const mostReading = 1024;
/** The most records of history that may be held for late reports until their commit: mostly some 10 MB, and 64 MB at most. */
const mostHeld = 32_768;
/** The most bytes that these records may take on average. Most take fewer. */
const recordBytes = 1024;

/** Reads the history around late reports before a batch plans them, and bounds how much of it is held. */
export class ReadAhead {
  readonly #store: Pick<LocationStore, "packedContext">;
  readonly #moments: Moments;
  readonly #clock: Clock;
  readonly #arrived: () => void;
  /** Records that are held for devices whose reports wait. */
  #held = 0;
  /** Records that are being read for postponed reports. */
  #reading = 0;
  /** Records that the present plan asked for: `#held` does not count them yet. */
  #asked = 0;

  /** `arrived` is called when a read ends or fails. */
  constructor(store: Pick<LocationStore, "packedContext">, moments: Moments, clock: Clock, arrived: () => void) {
    this.#store = store;
    this.#moments = moments;
    this.#clock = clock;
    this.#arrived = arrived;
  }

  /** Forgets what the last plan asked for: `#held` counts it by now, or nobody needs it. */
  planBegins(): void {
    this.#asked = 0;
  }

  /** Holds a part of a device's history while the device's reports wait. */
  hold(pending: PendingDevice, ahead: Ahead): void {
    if (pending.ahead !== undefined) return;
    pending.ahead = ahead;
    this.#held += ahead.records;
  }

  /** The next batch takes these devices: the history that was read for them no longer counts as held. */
  taken(devices: readonly PendingDevice[]): void {
    if (this.#held > 0) for (const { ahead } of devices) this.#held -= ahead?.records ?? 0;
  }

  /**
   * Asks for a part of a device's history, and the record before it. `known`: the part that was read before, whose stretches need not be read again. Returns undefined when the part
   * is too large, the moment is in memory, or too much is held.
   */
  read(device: DeviceKey, state: DeviceState, wanted: Wanted, known?: Ahead): Ahead | undefined {
    const { time, limit, further } = wanted;
    const records = limit + (known === undefined ? recordsOf(further) : known.records - known.limit);
    if (limit > mostReadAhead || this.#held + this.#asked + records > mostHeld) return undefined;
    if (this.#moments.get(device, state, time) !== undefined) return undefined;
    const askedAt = this.#clock.monotonic();
    const context = this.#context(device, time, limit);
    const stretches = known?.stretches ?? (further && readStretches(this.#store, device, further));
    const { version } = state;
    const ahead: Ahead = { version, time, limit, records, context, stretches, askedAt, arrived: false };
    void Promise.all([context, stretches]).then(() => {
      ahead.arrived = true;
      this.#arrived();
    });
    return ahead;
  }

  #context(device: DeviceKey, time: number, limit: number): Promise<PackedContext | undefined> {
    // After a failure the planner asks again when it needs the context. A context with long texts is dropped, because thousands of contexts wait at a time: the planner asks for it again, too.
    return this.#store.packedContext(device, placeBefore(time), limit).then(
      (found) => (found.bytes > (limit + 1) * recordBytes ? undefined : found),
      () => undefined,
    );
  }

  /** As `read`, for postponed reports. Also returns undefined while too many records are being read for other postponed reports: then the batch reads this part itself. */
  readFurther(device: DeviceKey, state: DeviceState, wanted: Wanted, known?: Ahead): Ahead | undefined {
    const reading = wanted.limit + (known === undefined ? recordsOf(wanted.further) : 0);
    if (this.#reading + reading > mostReading) return undefined;
    const ahead = this.read(device, state, wanted, known);
    if (ahead === undefined) return undefined;
    this.#asked += ahead.records;
    this.#reading += reading;
    void Promise.all([ahead.context, ahead.stretches]).then(() => {
      this.#reading -= reading;
    });
    return ahead;
  }
}

/** How many records stretches have. */
function recordsOf(starts: readonly number[] | undefined): number {
  return (starts?.length ?? 0) * stretchRecords;
}
