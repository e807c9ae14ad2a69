import type { DeviceKey } from "../model/device.ts";
import type { Counter } from "../ports/metrics.ts";
import type { DeletedPositions, PositionKeeper } from "../ports/retention.ts";
import type { LocationStore } from "../ports/store.ts";
import type { States } from "./states.ts";

/** What keeping positions works with. */
export interface KeepingDeps {
  readonly locations: Pick<LocationStore, "commit" | "oldPositions" | "deleteOld">;
  readonly states: States;
  readonly deleted: Counter;
}

const nothing: DeletedPositions = { positions: 0, more: false };
/** The device reported at the same moment. */
const later: DeletedPositions = { positions: 0, more: true };

/**
 * Deletes old positions of devices. First a commit writes into the device's state from when on its positions are kept. A commit that was planned with the previous state then
 * conflicts, and is planned again without older reports. Only after that are the positions deleted, so a crash leaves no gap that late reports could be folded into.
 */
export class Keeping implements PositionKeeper {
  readonly #deps: KeepingDeps;

  constructor(deps: KeepingDeps) {
    this.#deps = deps;
  }

  keptFrom(device: DeviceKey): number | undefined | Promise<number | undefined> {
    const { states } = this.#deps;
    const state = states.get(device);
    if (state !== undefined) return state.keptFrom;
    return states.load([device]).then((loaded) => loaded.get(device)?.keptFrom);
  }

  async deleteBefore(device: DeviceKey, before: number): Promise<DeletedPositions> {
    const { locations, deleted } = this.#deps;
    const [old] = await locations.oldPositions([device], before);
    if (old === undefined || old.count === 0) return nothing;
    if (!(await this.#advance(device, old.keptFrom))) return later;
    const step = await locations.deleteOld(device, old.keptFrom);
    deleted.add(step.positions);
    return step;
  }

  /** Writes `keptFrom` into the device's state. Returns false when another commit was faster, or the device is gone. */
  async #advance(device: DeviceKey, keptFrom: number): Promise<boolean> {
    const { locations, states } = this.#deps;
    const before = states.get(device) ?? (await states.load([device])).get(device);
    if (before === undefined) return false;
    if ((before.keptFrom ?? Number.NEGATIVE_INFINITY) >= keptFrom) return true;
    const state = { ...before, version: before.version + 1, keptFrom };
    const commit = { device, records: [], patches: [], state };
    const conflict = await locations.commit({ devices: [commit], refused: [] }).catch((error: unknown) => {
      // The commit may be on disk nevertheless, so the state is read again.
      states.forget(device);
      throw error;
    });
    if (conflict === undefined) states.committed(device, state);
    else states.forget(device);
    return conflict === undefined;
  }
}
