import type { Clock } from "../ports/clock.ts";
import type { KnockedDevice } from "../ports/quarantine.ts";
import type { Trace, TraceEntry } from "../ports/trace.ts";
import { Places } from "../shares/places.ts";

/** What the trace may hold. */
export interface TraceLimits {
  /**
   * Devices traced at once; following one more ends the trace of the account that has most, of its devices the one not
   * asked for longest.
   */
  readonly devices: number;
  /** Entries of one device; the oldest make room. */
  readonly entries: number;
  /** Characters of one device's messages and effects together. */
  readonly characters: number;
  /** How long a device is traced after it was last asked for, ms: a forgotten trace ends by itself. */
  readonly keepMs: number;
}

const defaultLimits: TraceLimits = { devices: 16, entries: 500, characters: 1 << 20, keepMs: 5 * 60_000 };

interface TracedDevice {
  readonly id: string;
  /** Its account. */
  readonly share: string;
  readonly entries: { readonly entry: TraceEntry; readonly size: number }[];
  characters: number;
  followedAt: number;
}

/** A trace in memory, off until somebody follows a device. */
export function createTrace(clock: Clock, limits: TraceLimits = defaultLimits): Trace {
  return new RingTrace(clock, limits);
}

class RingTrace implements Trace {
  active = false;
  #seq = 0;
  readonly #clock: Clock;
  readonly #limits: TraceLimits;
  readonly #devices = new Map<string, TracedDevice>();
  /** In the order in which they were last followed. */
  readonly #places = new Places<TracedDevice>(1);

  constructor(clock: Clock, limits: TraceLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  wants(device: string): boolean {
    this.#forgetOld();
    return this.#devices.has(device);
  }

  add(device: string, entry: Omit<TraceEntry, "seq">): void {
    const traced = this.#devices.get(device);
    if (traced === undefined) return;
    const size = entry.message.length + JSON.stringify(entry.effects).length;
    traced.entries.push({ entry: { seq: ++this.#seq, ...entry }, size });
    traced.characters += size;
    while (traced.entries.length > this.#limits.entries || traced.characters > this.#limits.characters)
      traced.characters -= traced.entries.shift()?.size ?? traced.characters;
  }

  follow({ id, accountKey }: KnockedDevice, after: number): readonly TraceEntry[] {
    this.#forgetOld();
    const traced = this.#devices.get(id) ?? { id, share: `${accountKey}`, entries: [], characters: 0, followedAt: 0 };
    traced.followedAt = this.#clock.monotonic();
    this.#forget(traced);
    this.#devices.set(id, traced);
    this.#places.add(traced);
    if (this.#places.size > this.#limits.devices) this.#forget(this.#places.next(undefined)?.connection);
    this.active = true;
    return traced.entries.filter(({ entry }) => entry.seq > after).map(({ entry }) => entry);
  }

  #forgetOld(): void {
    const oldest = this.#clock.monotonic() - this.#limits.keepMs;
    for (const traced of this.#places) {
      if (traced.followedAt >= oldest) break;
      this.#forget(traced);
    }
    this.active = this.#devices.size > 0;
  }

  #forget(traced: TracedDevice | undefined): void {
    if (traced === undefined) return;
    this.#devices.delete(traced.id);
    this.#places.delete(traced);
  }
}
