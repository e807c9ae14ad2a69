import type { DeviceKey } from "../model/device.ts";
import { type DeviceState, neverReported } from "../model/location.ts";
import type { AlertEngine, Watch } from "../ports/alert-engine.ts";
import type { Clock } from "../ports/clock.ts";
import type { LocationStore } from "../ports/store.ts";
import type { Draft } from "./draft.ts";
import { ordered, type PendingDevice } from "./pending.ts";
import { type Plan, planAppend, planLate } from "./plan.ts";
import type { States } from "./states.ts";

/** Records of history that a late report is first shown, and the most it is ever shown: some 8 MB for a moment. */
const firstContext = 256;
const largestContext = 16_384;
/** Devices with late reports that are planned at a time, so that the memory of their histories is bounded. */
const lateAtOnce = 8;

/** A device's plan; none where all it sent is stored already. */
export interface Planned {
  readonly pending: PendingDevice;
  readonly plan: Plan | undefined;
  readonly leftover: readonly Draft[];
}

/** A device whose reports are not all newer than what is stored. */
interface Late {
  readonly pending: PendingDevice;
  readonly drafts: readonly Draft[];
  readonly first: Draft;
  readonly state: DeviceState;
}

/** Makes the plans of a batch: in memory where reports are newer than all before, with the history's help where they come late. */
export class Planner {
  readonly #store: LocationStore;
  readonly #states: States;
  readonly #engine: AlertEngine;
  readonly #clock: Clock;

  constructor(store: LocationStore, states: States, engine: AlertEngine, clock: Clock) {
    this.#store = store;
    this.#states = states;
    this.#engine = engine;
    this.#clock = clock;
  }

  async plan(devices: readonly PendingDevice[]): Promise<readonly Planned[]> {
    const read = await this.#readStates(devices);
    // Rules are there, but for those of an account that is heard of for the first time.
    const loading = this.#engine.prepare(accountsOf(devices));
    if (loading !== undefined) await loading;
    const planned: Planned[] = [];
    const late: Late[] = [];
    for (const pending of devices) {
      const drafts = ordered(pending.drafts);
      const { key } = pending.device;
      const state = read?.get(key) ?? this.#states.get(key) ?? neverReported;
      const first = drafts[0];
      if (first === undefined) planned.push({ pending, plan: undefined, leftover: [] });
      else if (first.time > state.time) {
        const plan = planAppend(state, drafts, this.#watch(pending, state));
        planned.push({ pending, plan, leftover: [] });
      } else late.push({ pending, drafts, first, state });
    }
    for (let at = 0; at < late.length; at += lateAtOnce)
      planned.push(...(await Promise.all(late.slice(at, at + lateAtOnce).map((one) => this.#planLate(one)))));
    return planned;
  }

  /** States of those that are not in memory: held beside the memory's, which may make room for these and lose others of the batch. */
  async #readStates(devices: readonly PendingDevice[]): Promise<ReadonlyMap<DeviceKey, DeviceState> | undefined> {
    const missing: DeviceKey[] = [];
    for (const { device } of devices) if (this.#states.get(device.key) === undefined) missing.push(device.key);
    if (missing.length === 0) return undefined;
    const known = new Map<DeviceKey, DeviceState>();
    for (const { device } of devices) {
      const state = this.#states.get(device.key);
      if (state !== undefined) known.set(device.key, state);
    }
    for (const [key, state] of await this.#states.load(missing)) known.set(key, state);
    return known;
  }

  #watch({ device }: PendingDevice, state: DeviceState): Watch | undefined {
    return this.#engine.watch(device, state, this.#clock.now());
  }

  async #planLate({ pending, drafts, first, state }: Late): Promise<Planned> {
    for (let limit = firstContext; ; limit *= 4) {
      const context = await this.#store.context(pending.device.key, first.time, limit);
      const late = planLate(state, context, drafts, limit >= largestContext, this.#watch(pending, state));
      if (late !== "more context") return { pending, plan: late.plan, leftover: late.leftover };
    }
  }
}

function accountsOf(devices: readonly PendingDevice[]): ReadonlySet<number> {
  const accounts = new Set<number>();
  for (const { device } of devices) accounts.add(device.accountKey);
  return accounts;
}
