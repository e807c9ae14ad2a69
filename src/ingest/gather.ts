import type { DeviceKey } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";

/**
 * So many devices that report within a second are a fleet: others report while a batch waits. Few trackers mostly wait
 * for their acknowledgements, and would wait for nothing.
 */
const fleet = 64;
const windowMs = 1000;
/** A batch of this many devices does not wait. */
const enough = 32;
/** The longest time that a batch gathers, ms: a tenth of what the radio takes from a tracker and back. */
const mostMs = 20;
/** A batch to which nobody came within this time goes at once, ms. */
const quietMs = 2;

/**
 * Lets small batches of a large fleet gather for some milliseconds. Each commit writes whole pages and waits for the
 * disk, however little it has: a thousand reports a second in six hundred commits take three times the processor's time
 * and ten times the disk's of a hundred commits.
 */
export class Gather {
  readonly #clock: Clock;
  /** Devices that reported since the window began, as many as a fleet has at least. */
  readonly #devices = new Set<DeviceKey>();
  #windowFrom = Number.NEGATIVE_INFINITY;
  #isFleet = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a device reports. */
  reports(device: DeviceKey): void {
    if (this.#devices.size < fleet) this.#devices.add(device);
  }

  /**
   * Waits until a batch is worth its commit. `waiting`: how many devices the batch has now. `hurries`: nobody is to
   * wait.
   */
  async wait(waiting: () => number, hurries: () => boolean): Promise<void> {
    const began = this.#clock.monotonic();
    this.#judge(began);
    if (!this.#isFleet) return;
    for (let count = waiting(); count < enough && !hurries(); ) {
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      const now = waiting();
      if (now === count || this.#clock.monotonic() - began > mostMs - quietMs) return;
      count = now;
    }
  }

  #judge(now: number): void {
    if (now - this.#windowFrom < windowMs) return;
    // A window that nobody ended for long tells nothing of the rate.
    this.#isFleet = this.#devices.size >= fleet && now - this.#windowFrom < 2 * windowMs;
    this.#devices.clear();
    this.#windowFrom = now;
  }
}
