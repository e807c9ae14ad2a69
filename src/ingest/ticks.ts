import type { DeviceCommit } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";
import { type DeviceState, neverReported } from "../model/location.ts";
import type { AlertEngine, WatchedDevice } from "../ports/alert-engine.ts";
import type { Bus, CommittedDevice } from "../ports/bus.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import { type LocationStore, type Store, StoreUnavailable } from "../ports/store.ts";
import { divide, type Failure } from "./division.ts";
import type { States } from "./states.ts";
import { weightOf } from "./weight.ts";

/** Devices looked at in one commit, so that a whole fleet that falls silent at once leaves room for fixes between. */
const mostAtOnce = 200;
/** One commit's bytes; what is more is the next commit. */
const mostCommitBytes = 8 * 1024 * 1024;
/** Pause after a look that failed because the store is down, ms. */
const retryMs = 1000;
/** Pause before the next look at a device whose look failed although the store works, ms. It doubles each time, because the engine keeps naming the device. */
const firstRestMs = 60_000;
const longestRestMs = 3_600_000;
/** Devices of which that is remembered; the oldest makes room. */
const mostResting = 10_000;

/** What ticks work with. */
export interface TickDeps {
  readonly locations: Pick<LocationStore, "commit">;
  readonly store: Pick<Store, "check">;
  readonly states: States;
  readonly engine: AlertEngine;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Commits what time alone makes true of devices. A device that reports at the same moment may win the race for its version: what is found here is thrown
 * away then, and the engine tells of the device again.
 */
export class Ticks {
  readonly #deps: TickDeps;
  readonly #due = new Map<DeviceKey, WatchedDevice>();
  /** Devices whose look failed: how often in a row, and until when they are left alone, on the clock that never goes back. */
  readonly #resting = new Map<DeviceKey, { readonly times: number; readonly until: number }>();
  #running: Promise<void> | undefined;
  #stopping = false;

  constructor(deps: TickDeps) {
    this.#deps = deps;
  }

  /** Time may have made something true for these devices. */
  due(devices: readonly WatchedDevice[]): void {
    if (this.#stopping) return;
    const now = this.#deps.clock.monotonic();
    for (const device of devices)
      if ((this.#resting.get(device.key)?.until ?? now) <= now) this.#due.set(device.key, device);
    // A run without work would end before it is remembered as running.
    if (this.#due.size > 0) this.#running ??= this.#run();
  }

  /** Looks at nothing more; what is under way is over when this resolves. What was not looked at is due again after the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#due.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#due.size > 0) {
      const devices: WatchedDevice[] = [];
      for (const device of this.#due.values()) {
        devices.push(device);
        if (devices.length === mostAtOnce) break;
      }
      for (const { key } of devices) this.#due.delete(key);
      await divide(
        devices,
        (some) => this.#try(some),
        ({ key, id }, { error }) => {
          this.#deps.log.error({ error, device: id }, "a device's timers of alert rules could not be looked at");
          this.#rest(key);
        },
      );
    }
    this.#running = undefined;
  }

  /** A failure: not the store's, but of these devices. What is wrong with one must not hold up the others. */
  async #try(devices: readonly WatchedDevice[]): Promise<Failure | undefined> {
    if (this.#stopping) return undefined;
    try {
      await this.#look(devices);
      if (this.#resting.size > 0) for (const { key } of devices) this.#resting.delete(key);
      return undefined;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || (await this.#storeWorks())) return { error };
      this.#deps.log.warn(
        { error, devices: devices.length },
        "timers of alert rules could not be looked at; trying again",
      );
      if (!this.#stopping) await this.#again(devices);
      return undefined;
    }
  }

  #rest(device: DeviceKey): void {
    const times = (this.#resting.get(device)?.times ?? 0) + 1;
    const ms = Math.min(firstRestMs * 2 ** (times - 1), longestRestMs);
    if (this.#resting.size >= mostResting)
      for (const oldest of this.#resting.keys()) if (this.#resting.delete(oldest)) break;
    this.#resting.set(device, { times, until: this.#deps.clock.monotonic() + ms });
  }

  async #storeWorks(): Promise<boolean> {
    try {
      await this.#deps.store.check();
      return true;
    } catch {
      return false;
    }
  }

  async #again(devices: readonly WatchedDevice[]): Promise<void> {
    for (const device of devices) if (!this.#due.has(device.key)) this.#due.set(device.key, device);
    await new Promise<void>((resolve) => setTimeout(resolve, retryMs));
  }

  async #look(devices: readonly WatchedDevice[]): Promise<void> {
    const { engine, clock, states, locations } = this.#deps;
    await engine.prepare(new Set(devices.map(({ accountKey }) => accountKey)));
    const known = await this.#statesOf(devices);
    const commits: DeviceCommit[] = [];
    const committed: CommittedDevice[] = [];
    let bytes = 0;
    for (const [index, device] of devices.entries()) {
      if (bytes > mostCommitBytes) {
        this.due(devices.slice(index));
        break;
      }
      const state = known.get(device.key) ?? neverReported;
      const watch = engine.watch(device, state, clock.now());
      watch?.tick();
      const outcome = watch?.outcome();
      if (outcome === undefined) continue;
      const { rules, alerts, notices, ended = [] } = outcome;
      const { rules: _before, ...rest } = state;
      const after = { ...rest, version: state.version + 1, ...(rules !== undefined && { rules }) };
      const commit = {
        device: device.key,
        records: [],
        patches: [],
        state: after,
        alerts,
        notices,
        ...(ended.length > 0 && { ended }),
      };
      commits.push(commit);
      committed.push({ device, plan: commit });
      bytes += weightOf(commit);
    }
    if (commits.length === 0) return;
    const conflict = await locations.commit({ devices: commits, refused: [] }).catch((error: unknown) => {
      // It may be on disk nevertheless: then its notices are due, and the next look must find what it changed.
      for (const { device } of commits) states.forget(device);
      this.#tell(commits, committed);
      throw error;
    });
    if (conflict !== undefined) {
      // Deleted, or reported meanwhile: the others are looked at again without them.
      for (const key of conflict.conflicts) states.forget(key);
      const lost = new Set(conflict.conflicts);
      this.due(devices.filter(({ key }) => !lost.has(key)));
      return;
    }
    for (const { device, state, notices } of commits) {
      states.committed(device, state);
      const watched = devices.find(({ key }) => key === device);
      if (watched !== undefined) engine.committed(watched, state, notices?.length ?? 0);
    }
    this.#tell(commits, committed);
  }

  #tell(commits: readonly DeviceCommit[], devices: readonly CommittedDevice[]): void {
    const { bus } = this.#deps;
    bus.publish({ type: "committed", devices });
    if (commits.some(({ notices }) => notices !== undefined && notices.length > 0))
      bus.publish({ type: "noticesQueued" });
  }

  async #statesOf(devices: readonly WatchedDevice[]): Promise<ReadonlyMap<DeviceKey, DeviceState>> {
    const { states } = this.#deps;
    const known = new Map<DeviceKey, DeviceState>();
    const missing: DeviceKey[] = [];
    for (const { key } of devices) {
      const state = states.get(key);
      if (state === undefined) missing.push(key);
      else known.set(key, state);
    }
    if (missing.length > 0) for (const [key, state] of await states.load(missing)) known.set(key, state);
    return known;
  }
}
