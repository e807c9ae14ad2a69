import type { DeviceKey } from "../model/device.ts";
import { type DeviceState, placeBefore } from "../model/location.ts";
import type { Clock } from "../ports/clock.ts";
import type { HistoryContext, LocationStore } from "../ports/store.ts";
import type { Moments } from "./moments.ts";
import type { Ahead, PendingDevice } from "./pending.ts";

/** The largest part that is read ahead. A larger one is read when a batch plans the reports. */
export const mostReadAhead = 256;
/** Records that may be read at a time for what is left over: others' requests wait for the same reader. */
const mostReading = 1024;
/** Records of history that may be held for late reports whose commit is still to come, some 20 MB; and bytes of the texts of each, more than most records have. */
const mostHeld = 32_768;
const recordBytes = 1024;

/** Reads the history around late reports before a batch plans them, and bounds how much of it is held. */
export class ReadAhead {
  readonly #store: Pick<LocationStore, "context">;
  readonly #moments: Moments;
  readonly #clock: Clock;
  readonly #arrived: () => void;
  /** Records that devices hold whose reports wait. */
  #held = 0;
  /** Records that are being read for what was left over, and all that the present plan asked for: nobody holds them yet. */
  #reading = 0;
  #asked = 0;

  /** `arrived` is called when a read has ended, also one that failed. */
  constructor(store: Pick<LocationStore, "context">, moments: Moments, clock: Clock, arrived: () => void) {
    this.#store = store;
    this.#moments = moments;
    this.#clock = clock;
    this.#arrived = arrived;
  }

  /** What an earlier plan asked for is held by now, or was for nothing. */
  planBegins(): void {
    this.#asked = 0;
  }

  /** The device's reports wait with this part of its history. */
  hold(pending: PendingDevice, ahead: Ahead): void {
    if (pending.ahead !== undefined) return;
    pending.ahead = ahead;
    this.#held += ahead.limit;
  }

  /** These are committed next: what was read for them is held no longer than that. */
  taken(devices: readonly PendingDevice[]): void {
    if (this.#held > 0) for (const { ahead } of devices) this.#held -= ahead?.limit ?? 0;
  }

  /** Asks for what lies from a time on. Undefined: it is too much, memory knows the moment, or too much is held. */
  read(device: DeviceKey, state: DeviceState, time: number, limit: number): Ahead | undefined {
    if (limit > mostReadAhead || this.#held + this.#asked + limit > mostHeld) return undefined;
    if (this.#moments.get(device, state, time) !== undefined) return undefined;
    // A failure does not matter: the planner asks again when it needs the context. A context with long texts is not kept, since thousands wait at a time; the planner asks for it again too.
    const context = this.#store.context(device, placeBefore(time), limit).then(
      (found) => (textsOf(found) > (limit + 1) * recordBytes ? undefined : found),
      () => undefined,
    );
    const askedAt = this.#clock.monotonic();
    const ahead = { version: state.version, time, limit, context, askedAt, arrived: false };
    void context.then(() => {
      ahead.arrived = true;
      this.#arrived();
    });
    return ahead;
  }

  /** Asks in the same way for postponed reports. Undefined also where so many records are being read for others that the batch reads these itself. */
  readFurther(device: DeviceKey, state: DeviceState, time: number, limit: number): Ahead | undefined {
    if (this.#reading + limit > mostReading) return undefined;
    const ahead = this.read(device, state, time, limit);
    if (ahead === undefined) return undefined;
    this.#asked += limit;
    this.#reading += limit;
    void ahead.context.then(() => {
      this.#reading -= limit;
    });
    return ahead;
  }
}

/** Length of the texts of a context. */
function textsOf({ before, from }: HistoryContext): number {
  let length = before?.extras.length ?? 0;
  for (const { extras } of from) length += extras.length;
  return length;
}
