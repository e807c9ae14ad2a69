import { setImmediate as nextTurn } from "node:timers/promises";
import { usualSpacing } from "../fold/day-walk.ts";
import { beginOf, dayOf } from "../fold/days.ts";
import type { DeviceKey } from "../model/device.ts";
import type { DeviceHead } from "../model/follow.ts";
import type { FollowStore } from "../ports/follow.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { DeviceFold } from "./device-fold.ts";
import type { FollowedDevice } from "./followed-device.ts";
import { isDown, Unread, type UnreadDeps } from "./unread.ts";

/** Heads of one question. */
const mostHeads = 500;
/** Devices of which is asked at a time how they are registered. */
const readsAtOnce = 16;
/** Pauses after a failure, ms: of the store, and of one device alone. */
const pauseMs = 1000;
const devicePauseMs = 10_000;
const leftText = "another process follows the device now, or it is gone";
/** Behind all days. */
const lastDay = dayOf(8.64e15);

/** What loading works with. */
export interface LoadingDeps extends UnreadDeps {
  readonly store: Pick<FollowStore, "days" | "sumsBefore">;
  /** Reads the heads of these. */
  readonly heads: (devices: readonly FollowedDevice[]) => ReturnType<FollowStore["heads"]>;
  /** Loads the rules of these accounts; undefined: they are there. */
  readonly prepare: (accounts: ReadonlySet<number>) => Promise<void> | undefined;
  /** The head was read. `isReady`: the rules are there. */
  readonly loaded: (device: FollowedDevice, isReady: boolean) => void;
}

/** Reads heads of devices that are not in memory, many at a time. */
export class Loading {
  readonly #deps: LoadingDeps;
  readonly #unread: Unread;
  readonly #queue = new Set<FollowedDevice>();
  readonly #waiters = new Map<FollowedDevice, ((error?: unknown) => void)[]>();
  /** Accounts whose rules can't be read. */
  readonly #unready = new Set<number>();
  #running: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #isStopping = false;

  constructor(deps: LoadingDeps) {
    this.#deps = deps;
    this.#unread = new Unread(deps);
  }

  has(device: FollowedDevice): boolean {
    return this.#queue.has(device);
  }

  add(device: FollowedDevice): void {
    if (device.left) return;
    this.#queue.add(device);
    if (!this.#isStopping) this.#running ??= this.#run();
  }

  /** Resolves when the device's head was read. Rejects where that fails. */
  wait(device: FollowedDevice): Promise<void> {
    if (this.#isStopping) return Promise.reject(new StoreUnavailable("the service stops"));
    if (device.left) return Promise.reject(new StoreUnavailable(leftText));
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(device) ?? [];
      this.#waiters.set(device, waiters);
      waiters.push((error) => (error === undefined ? resolve() : reject(error)));
      this.add(device);
    });
  }

  /** A device is gone, or another process follows it. */
  drop(device: FollowedDevice): void {
    this.#queue.delete(device);
    this.#tell(device, new StoreUnavailable(leftText));
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
    // Whoever begins to wait from now on waits for the next time.
    const asked = devices.map((device) => this.#waiters.get(device) ?? []);
    for (const device of devices) this.#waiters.delete(device);
    try {
      await this.#read(devices);
    } catch (error) {
      for (const tell of asked.flat()) tell(error);
      throw error;
    }
    for (const [at, device] of devices.entries()) {
      // Whatever is left of one comes behind all others.
      if (this.#queue.delete(device) && this.#isLeft(device)) this.#queue.add(device);
      const error = device.fold === undefined ? this.#failed(device) : undefined;
      for (const tell of asked[at] ?? []) tell(error);
    }
  }

  /** Whether there is more to load of it at once. */
  #isLeft(device: FollowedDevice): boolean {
    const { fold, unread, waiting } = device;
    if (fold === undefined) return false;
    if (this.#waiters.has(device)) return true;
    // The end of a refold asks for it again.
    return !fold.isRefolding && (unread !== undefined || waiting.length > 0);
  }

  async #read(devices: readonly FollowedDevice[]): Promise<void> {
    const unready = await this.#prepare(new Set(devices.flatMap(({ device }) => device?.accountKey ?? [])));
    const missing = devices.filter(({ fold }) => fold === undefined);
    const heads = await this.#heads(missing);
    for (const [at, device] of missing.entries()) await this.#alone(device, () => this.#makeFold(device, heads[at]));
    await this.#unread.read(devices.filter(({ fold, unread }) => fold !== undefined && unread !== undefined));
    // What waits is judged by the device's rules, and whose account is not known could not take turns with others.
    const unknown = devices.filter(
      ({ device, known, fold, waiting }) =>
        (device === undefined && waiting.length > 0) || (known === undefined && fold?.isLate === true),
    );
    for (let at = 0; at < unknown.length; at += readsAtOnce)
      await Promise.all(
        unknown.slice(at, at + readsAtOnce).map((device) => this.#alone(device, () => this.#deps.register(device))),
      );
    for (const device of devices) {
      if (device.fold === undefined) continue;
      this.#deps.loaded(device, !unready.has(device.device?.accountKey ?? 0));
      // It was a page of many records.
      if (device.isCatchingUp) await nextTurn();
    }
  }

  /** Accounts whose rules can't be read, though others' can. */
  async #prepare(accounts: ReadonlySet<number>): Promise<ReadonlySet<number>> {
    try {
      await this.#deps.prepare(accounts);
      for (const account of accounts) this.#unready.delete(account);
      return new Set();
    } catch (error) {
      if (isDown(error)) throw error;
      const [only] = accounts;
      if (accounts.size > 1 || only === undefined) {
        const failed = await Promise.all([...accounts].map((account) => this.#prepare(new Set([account]))));
        return new Set(failed.flatMap((some) => [...some]));
      }
      // Each append of theirs asks again.
      if (!this.#unready.has(only))
        this.#deps.log.error({ error, account: only }, "the alert rules of an account can't be read");
      this.#unready.add(only);
      return accounts;
    }
  }

  /** What fails for one device alone holds up no other one. */
  async #alone(device: FollowedDevice, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (isDown(error)) throw error;
      this.#deps.log.error({ error, device: device.key }, "how a device stands can't be read");
    }
  }

  async #makeFold(device: FollowedDevice, head: DeviceHead | undefined | "damaged"): Promise<void> {
    device.fold ??= await this.#foldOf(device.key, head);
  }

  /** Its head is tried again after a pause. */
  #failed(device: FollowedDevice): StoreUnavailable {
    const error = new StoreUnavailable(`the head of device ${device.key} can't be read`, undefined, "damaged");
    this.#tell(device, error);
    setTimeout(() => this.add(device), devicePauseMs).unref();
    return error;
  }

  /** A head that is damaged is left out alone. */
  async #heads(devices: readonly FollowedDevice[]): Promise<readonly (DeviceHead | undefined | "damaged")[]> {
    if (devices.length === 0) return [];
    try {
      return await this.#deps.heads(devices);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error.trouble !== "damaged") throw error;
      const half = devices.length >> 1;
      if (half > 0)
        return [...(await this.#heads(devices.slice(0, half))), ...(await this.#heads(devices.slice(half)))];
      this.#deps.log.error(
        { error, device: devices[0]?.key },
        "a device's head is damaged: it is made anew from its positions",
      );
      return ["damaged"];
    }
  }

  /**
   * A damaged head is made anew: everything that is kept is late. What ended days add up to is known, those that were
   * deleted included; and where the first one that is kept has something before it, that was deleted.
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
