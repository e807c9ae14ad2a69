import { stepOf } from "../fold/step.ts";
import type { DeviceKey } from "../model/device.ts";
import type { DeviceHead } from "../model/follow.ts";
import { observationOf } from "../model/observation.ts";
import type { SaidRecord } from "../model/said.ts";
import type { FollowStore, FreshRecord } from "../ports/follow.ts";
import type { Log } from "../ports/log.ts";
import type { PositionPage } from "../ports/positions.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { usualSpacing } from "./day-walk.ts";
import { beginOf, dayOf } from "./days.ts";
import { DeviceFold } from "./device-fold.ts";
import type { FollowedDevice } from "./followed-device.ts";

/** Heads of one question. */
const mostHeads = 500;
/** Devices whose positions are read at a time. */
const readsAtOnce = 16;
/** Pause after a failure, ms. */
const pauseMs = 1000;
/** Behind all days. */
const lastDay = dayOf(8.64e15);

/** What loading works with. */
export interface LoadingDeps {
  readonly store: Pick<FollowStore, "heads" | "days" | "sumsBefore">;
  /** Loads the rules of these accounts; undefined: they are there. */
  readonly prepare: (accounts: ReadonlySet<number>) => Promise<void> | undefined;
  /** Sets how the device is registered; after a start nobody has told. */
  readonly register: (device: FollowedDevice) => Promise<unknown>;
  /** The first records of a device from an event time on, and whether there are more. */
  readonly read: (device: DeviceKey, from: number) => Promise<PositionPage>;
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
    if (this.#isStopping) return Promise.reject(new StoreUnavailable("the service stops"));
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
      // Whoever is waited for comes first.
      const some = [...new Set([...this.#waiters.keys(), ...this.#queue])].slice(0, mostHeads);
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
    for (const [at, device] of missing.entries()) device.fold ??= await this.#foldOf(device.key, heads[at]);
    const unread = devices.filter((device) => device.unread !== undefined);
    for (let at = 0; at < unread.length; at += readsAtOnce)
      await Promise.all(unread.slice(at, at + readsAtOnce).map((device) => this.#readUnread(device)));
    // Whose account is not known could not take turns with others.
    const unknown = devices.filter(({ known, fold }) => known === undefined && fold?.isLate === true);
    for (let at = 0; at < unknown.length; at += readsAtOnce)
      await Promise.all(unknown.slice(at, at + readsAtOnce).map((device) => this.#deps.register(device)));
    for (const device of devices) {
      this.#queue.delete(device);
      this.#deps.loaded(device);
      this.#tell(device);
    }
  }

  /** Reads what nobody followed. Where that fails for one device alone, all of it counts as late. */
  async #readUnread(device: FollowedDevice): Promise<void> {
    try {
      await this.#takeUnread(device);
    } catch (error) {
      if (error instanceof StoreUnavailable && error.trouble === "down") throw error;
      this.#deps.log.error({ error, device: device.key }, "positions of a device that nobody followed can't be read");
    }
  }

  /** Takes the first records of what nobody followed as if they had just come; what is left of them counts as late. */
  async #takeUnread(device: FollowedDevice): Promise<void> {
    const { unread } = device;
    if (unread === undefined) return;
    await this.#deps.register(device);
    const page = await this.#deps.read(device.key, unread.from);
    if (device.unread !== unread || page.unreadable.length > 0) return;
    device.waiting = [...page.records.map(freshOf), ...device.waiting];
    const last = page.records.at(-1)?.time;
    device.unread =
      page.next === undefined || last === undefined || last > unread.to ? undefined : { from: last, to: unread.to };
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

  /**
   * A damaged head is made anew: everything that is kept is late. What ended days add up to is known, those that were deleted included; and where the first one that is kept has something
   * before it, that was deleted.
   */
  async #foldOf(device: DeviceKey, head: DeviceHead | undefined | "damaged"): Promise<DeviceFold> {
    const { store } = this.#deps;
    if (head !== "damaged" && (head?.today !== undefined || (head?.late.length ?? 0) === 0))
      return new DeviceFold(head);
    const [last] = await store.days(device, { order: "last", limit: 1 });
    if (head !== "damaged") return new DeviceFold(head, usualSpacing, last?.day);
    const [first] = await store.days(device, { order: "first", limit: 1 });
    const deletedTo = first?.before.time;
    const keptFrom = deletedTo === undefined ? undefined : beginOf(dayOf(deletedTo) + 1);
    const from = keptFrom ?? 0;
    const late = [{ day: dayOf(from), from, to: Number.MAX_SAFE_INTEGER }];
    const sumsBefore = await store.sumsBefore(device, lastDay);
    const made = { sumsBefore, late, ...(keptFrom !== undefined && { keptFrom }) };
    return new DeviceFold(made, usualSpacing, last?.day);
  }

  /** Reads no more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake?.();
    await this.#running;
    for (const device of [...this.#waiters.keys()]) this.#tell(device, new StoreUnavailable("the service stops"));
  }
}

/** A stored record as if it had just come. */
function freshOf(record: SaidRecord): FreshRecord {
  return { ...observationOf(record), ...stepOf(record), ...record, speed: record.speed, course: record.course };
}
