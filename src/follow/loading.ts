import type { DeviceKey } from "../model/device.ts";
import type { DeviceHead } from "../model/follow.ts";
import type { FollowStore } from "../ports/follow.ts";
import type { Log } from "../ports/log.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { noSums } from "./days.ts";
import { DeviceFold } from "./device-fold.ts";
import type { FollowedDevice } from "./followed-device.ts";

/** Heads of one question. */
const mostHeads = 500;
/** Pause after a failure, ms. */
const pauseMs = 1000;

/** What loading works with. */
export interface LoadingDeps {
  readonly store: Pick<FollowStore, "heads">;
  /** Loads the rules of these accounts; undefined: they are there. */
  readonly prepare: (accounts: ReadonlySet<number>) => Promise<void> | undefined;
  readonly log: Log;
  /** The head was read, and the rules are there. */
  readonly loaded: (device: FollowedDevice) => void;
}

/** Reads heads of devices that are not in memory, many at a time. */
export class Loading {
  readonly #deps: LoadingDeps;
  readonly #queue = new Set<FollowedDevice>();
  readonly #waiters = new Map<FollowedDevice, ((error?: unknown) => void)[]>();
  #running: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #isStopping = false;

  constructor(deps: LoadingDeps) {
    this.#deps = deps;
  }

  has(device: FollowedDevice): boolean {
    return this.#queue.has(device);
  }

  add(device: FollowedDevice): void {
    this.#queue.add(device);
    if (!this.#isStopping) this.#running ??= this.#run();
  }

  /** Resolves when the device's head was read. Rejects where that fails. */
  wait(device: FollowedDevice): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(device) ?? [];
      this.#waiters.set(device, waiters);
      waiters.push((error) => (error === undefined ? resolve() : reject(error)));
      this.add(device);
    });
  }

  #tell(device: FollowedDevice, error?: unknown): void {
    const waiters = this.#waiters.get(device) ?? [];
    this.#waiters.delete(device);
    for (const tell of waiters) tell(error);
  }

  async #run(): Promise<void> {
    // What one turn of the event loop asks for is one question.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#queue.size > 0 && !this.#isStopping) {
      const some = [...this.#queue].slice(0, mostHeads);
      try {
        await this.#load(some);
      } catch (error) {
        this.#deps.log.warn({ error, devices: some.length }, "heads of devices can't be read; trying again");
        for (const device of some) this.#tell(device, error);
        if (!this.#isStopping) await this.#pause();
      }
    }
    this.#running = undefined;
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, pauseMs).unref();
    });
  }

  async #load(devices: readonly FollowedDevice[]): Promise<void> {
    await this.#deps.prepare(new Set(devices.flatMap(({ device }) => device?.accountKey ?? [])));
    const missing = devices.filter(({ fold }) => fold === undefined);
    const heads = await this.#heads(missing.map(({ key }) => key));
    missing.forEach((device, at) => {
      device.fold ??= foldOf(heads[at]);
    });
    for (const device of devices) {
      this.#queue.delete(device);
      this.#deps.loaded(device);
      this.#tell(device);
    }
  }

  /** A head that is damaged is left out alone. */
  async #heads(devices: readonly DeviceKey[]): Promise<readonly (DeviceHead | undefined | "damaged")[]> {
    if (devices.length === 0) return [];
    try {
      return await this.#deps.store.heads(devices);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error.trouble !== "damaged") throw error;
      const half = devices.length >> 1;
      if (half > 0)
        return [...(await this.#heads(devices.slice(0, half))), ...(await this.#heads(devices.slice(half)))];
      this.#deps.log.error(
        { error, device: devices[0] },
        "a device's head is damaged: it is made anew from its positions",
      );
      return ["damaged"];
    }
  }

  /** Reads no more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake?.();
    await this.#running;
    for (const device of [...this.#waiters.keys()]) this.#tell(device, new StoreUnavailable("the service stops"));
  }
}

/** Everything of a damaged head is late. */
function foldOf(head: DeviceHead | undefined | "damaged"): DeviceFold {
  if (head !== "damaged") return new DeviceFold(head);
  return new DeviceFold({ sumsBefore: noSums, late: [{ day: 0, from: 0, to: Number.MAX_SAFE_INTEGER }] });
}
