import { setTimeout as pause } from "node:timers/promises";
import type { DeviceKey } from "../model/device.ts";
import type { FollowStore } from "../ports/follow.ts";
import type { Log } from "../ports/log.ts";

/** Devices that are asked for at a time: the next ones when fewer are behind, or after some time. */
const mostDevices = 500;
const lookMs = 1000;
const mostLooks = 60;

/** What it works with. */
export interface LateBeforeDeps {
  readonly store: Pick<FollowStore, "lateDevices">;
  readonly log: Log;
  /** Reads the head of a device: what is late in it has its turn then. */
  readonly load: (device: DeviceKey) => unknown;
  /** How many devices wait for a turn. */
  readonly behind: () => number;
}

/**
 * Finds the devices with late records that had no turn before this process came to follow them: some at a time, so that
 * not all of them are in memory.
 */
export class LateBefore {
  readonly #deps: LateBeforeDeps;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #isAsked = false;

  constructor(deps: LateBeforeDeps) {
    this.#deps = deps;
  }

  begin(): void {
    this.#isAsked = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#isAsked) this.begin();
    });
  }

  async #run(): Promise<void> {
    for (; this.#isAsked; await this.#loadAll()) this.#isAsked = false;
  }

  async #loadAll(): Promise<void> {
    const { signal } = this.#stopping;
    for (let after: DeviceKey | undefined = -1; after !== undefined && !signal.aborted; ) {
      try {
        after = await this.#load(after);
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.log.warn({ error }, "devices with late positions can't be found; trying again");
        await this.#pause();
      }
    }
  }

  /** The last device that was found; undefined: there are no more. */
  async #load(after: DeviceKey): Promise<DeviceKey | undefined> {
    const devices = await this.#deps.store.lateDevices(after, mostDevices);
    for (const device of devices) this.#deps.load(device);
    const last = devices.at(-1);
    if (last === undefined || devices.length < mostDevices) return undefined;
    for (let looks = 0; looks < mostLooks && !this.#stopping.signal.aborted; looks++) {
      await this.#pause();
      if (this.#deps.behind() < mostDevices) break;
    }
    return last;
  }

  /** Nobody waits for it where the service stops. */
  async #pause(): Promise<void> {
    await pause(lookMs, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}
