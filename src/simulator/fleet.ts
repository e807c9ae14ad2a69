import type { Clock } from "../ports/clock.ts";
import { Gate } from "./gate.ts";
import { cityOf, type FleetDevice, type FleetSize, fleetDevices } from "./identity.ts";
import { randomOf } from "./random.ts";
import { Town } from "./road.ts";
import { type Counts, type FleetStats, newCounts } from "./stats.ts";
import { Tracker } from "./tracker.ts";
import { Vehicle } from "./vehicle.ts";

/** A fleet, and how it reports. */
export interface FleetOptions extends FleetSize {
  /** Seconds between two reports of a device. */
  readonly interval: number;
  /** Reports of each device after which the fleet ends; absent: it goes on until it is stopped. */
  readonly count?: number;
  /** Where trackers connect. */
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  /** Makes the devices known to the service; called once, before any of them connects. */
  readonly register: (devices: readonly FleetDevice[]) => Promise<void>;
  /** Connections opened in a second; 500 where absent. */
  readonly connectsPerSecond?: number;
  /** Reports that each tracker keeps while the service does not acknowledge; 500 where absent. */
  readonly backlog?: number;
  /** First delay before a lost connection is opened again, ms; 1000 where absent. */
  readonly retryDelay?: number;
}

/** A running fleet. */
export interface Fleet {
  readonly devices: readonly FleetDevice[];
  /** The counters at this moment. */
  readonly stats: FleetStats;
  /** Resolves when every device sent its `count` reports and all of them arrived, or after `stop`. */
  readonly finished: Promise<FleetStats>;
  /**
   * No further reports; what is on its way gets `graceMs` (2 s) to be acknowledged; then the connections are closed.
   */
  stop(graceMs?: number): Promise<FleetStats>;
}

/** Registers the devices and sends them on their way. Rejects where registration does. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const devices = fleetDevices(options);
  await options.register(devices);
  return new RunningFleet(options, devices);
}

interface Member {
  readonly vehicle: Vehicle;
  readonly tracker: Tracker;
}

class RunningFleet implements Fleet {
  readonly devices: readonly FleetDevice[];
  readonly finished: Promise<FleetStats>;
  readonly #options: FleetOptions;
  readonly #counts: Counts;
  readonly #gate: Gate;
  readonly #members: readonly Member[];
  readonly #finish: (stats: FleetStats) => void;
  /** Wall and monotonic clock at the start, ms. */
  readonly #startedAt: number;
  readonly #origin: number;
  /** Reports made so far; the next one is of device `made % devices`. */
  #made = 0;
  #timer: NodeJS.Timeout | undefined;
  #ending = false;

  constructor(options: FleetOptions, devices: readonly FleetDevice[]) {
    this.#options = options;
    this.devices = devices;
    this.#counts = newCounts(devices.length);
    this.#gate = new Gate(options.connectsPerSecond ?? 500);
    this.#members = this.#makeMembers();
    const { promise, resolve } = Promise.withResolvers<FleetStats>();
    this.finished = promise;
    this.#finish = resolve;
    this.#startedAt = options.clock.now();
    this.#origin = options.clock.monotonic();
    this.#makeDue();
  }

  get stats(): FleetStats {
    return { ...this.#counts };
  }

  async stop(graceMs = 2000): Promise<FleetStats> {
    clearTimeout(this.#timer);
    this.#ending = true;
    this.#endIfDone();
    const grace = setTimeout(() => this.#end(), graceMs);
    const stats = await this.finished;
    clearTimeout(grace);
    return stats;
  }

  #makeMembers(): readonly Member[] {
    const { seed, host, port, backlog = 500, retryDelay = 1000, protocols } = this.#options;
    const random = randomOf(`${seed}/delays`);
    const settings = { host, port, backlog, gate: this.#gate, counts: this.#counts, random, retryDelay };
    const towns = new Map<string, Town>();
    return this.devices.map((device, index) => {
      const city = cityOf(index, protocols.length);
      const town = towns.get(city.name) ?? new Town(city, seed);
      towns.set(city.name, town);
      return {
        vehicle: new Vehicle(town, `${seed}/${index}`),
        tracker: new Tracker(device.id, device.protocol, { ...settings, onEmpty: () => this.#endIfDone() }),
      };
    });
  }

  /**
   * Makes every report whose time has come. Devices take turns evenly over the interval, so the next one due is always
   * the next in turn.
   */
  #makeDue(): void {
    const { interval, count = Number.POSITIVE_INFINITY, clock } = this.#options;
    const size = this.#members.length;
    const between = (interval * 1000) / size;
    const elapsed = clock.monotonic() - this.#origin;
    for (; this.#made * between <= elapsed && this.#made < count * size; this.#made++) {
      const member = this.#members[this.#made % size];
      if (this.#made >= size) member?.vehicle.advance(interval);
      const time = Math.floor(this.#startedAt + this.#made * between);
      if (member) member.tracker.report(member.vehicle.report(time));
    }
    this.#ending = this.#made >= count * size;
    if (this.#ending) this.#endIfDone();
    else this.#timer = setTimeout(() => this.#makeDue(), Math.max(1, this.#made * between - elapsed));
  }

  #endIfDone(): void {
    if (this.#ending && this.#counts.waiting === 0) this.#end();
  }

  #end(): void {
    this.#gate.close();
    for (const { tracker } of this.#members) tracker.stop();
    this.#finish(this.stats);
  }
}
