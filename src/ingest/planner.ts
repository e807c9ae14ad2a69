import type { DeviceKey } from "../model/device.ts";
import type { LocationStore } from "../ports/store.ts";
import type { Draft } from "./draft.ts";
import { ordered, type PendingDevice } from "./pending.ts";
import { newDevice, type Plan, planAppend, planLate } from "./plan.ts";
import type { States } from "./states.ts";

/** Records of history that a late report is first shown, and the most it is ever shown: some 30 MB for a moment. */
const firstContext = 256;
const largestContext = 65_536;

/** A device's plan; none where all it sent is stored already. */
export interface Planned {
  readonly pending: PendingDevice;
  readonly plan: Plan | undefined;
  readonly leftover: Draft[];
}

/** Makes the plans of a batch: in memory where reports are newer than all before, with the history's help where they come late. */
export class Planner {
  readonly #store: LocationStore;
  readonly #states: States;

  constructor(store: LocationStore, states: States) {
    this.#store = store;
    this.#states = states;
  }

  async plan(devices: readonly PendingDevice[]): Promise<readonly Planned[]> {
    const missing = this.#unknown(devices);
    // Held here too: the cache may make room for others while a large batch is planned.
    if (missing.length > 0) await this.#states.load(missing);
    const planned: Planned[] = [];
    const late: Promise<Planned>[] = [];
    for (const pending of devices) {
      const drafts = ordered(pending.drafts);
      const state = this.#states.get(pending.device.key) ?? newDevice;
      const first = drafts[0];
      if (first === undefined) planned.push({ pending, plan: undefined, leftover: [] });
      else if (first.time > state.time) planned.push({ pending, plan: planAppend(state, drafts), leftover: [] });
      else late.push(this.#planLate(pending, drafts, first));
    }
    return late.length === 0 ? planned : planned.concat(await Promise.all(late));
  }

  #unknown(devices: readonly PendingDevice[]): readonly DeviceKey[] {
    const missing: DeviceKey[] = [];
    for (const { device } of devices) if (this.#states.get(device.key) === undefined) missing.push(device.key);
    return missing;
  }

  async #planLate(pending: PendingDevice, drafts: readonly Draft[], first: Draft): Promise<Planned> {
    for (let limit = firstContext; ; limit *= 4) {
      const context = await this.#store.context(pending.device.key, first.time, limit);
      const state = this.#states.get(pending.device.key) ?? newDevice;
      const late = planLate(state, context, drafts, limit >= largestContext);
      if (late !== "more context") return { pending, plan: late.plan, leftover: [...late.leftover] };
    }
  }
}
