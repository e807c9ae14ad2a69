import { beginOf, dayOf } from "../fold/days.ts";
import type { DeviceKey } from "../model/device.ts";
import type { FollowStore } from "../ports/follow.ts";
import type { PositionStore } from "../ports/positions.ts";
import type { OldPositions, PositionKeeper } from "../ports/retention.ts";
import type { FollowedDevice } from "./followed-device.ts";

/** What keeping works with. */
export interface KeepingDeps {
  readonly follow: Pick<FollowStore, "daysBefore" | "forgetDays">;
  readonly positions: Pick<PositionStore, "deleteBefore">;
  /** Whether it is this process that deletes positions of a device. */
  readonly follows: (key: DeviceKey) => boolean;
  readonly device: (key: DeviceKey) => FollowedDevice;
  /** The device with its head. */
  readonly loaded: (device: DeviceKey) => FollowedDevice | Promise<FollowedDevice>;
  readonly changed: (device: FollowedDevice) => void;
  /** Commits a device now. */
  readonly write: (device: FollowedDevice) => Promise<void>;
}

/** Deletes old positions, as whole UTC days: totals go on from the beginning of a day. */
export class Keeping implements PositionKeeper {
  readonly #deps: KeepingDeps;
  /** Positions that were deleted since the start. */
  deleted = 0;

  constructor(deps: KeepingDeps) {
    this.#deps = deps;
  }

  keptFrom(device: DeviceKey): number | undefined | Promise<number | undefined> {
    const loaded = this.#deps.loaded(device);
    return loaded instanceof Promise ? loaded.then(({ fold }) => fold?.head.keptFrom) : loaded.fold?.head.keptFrom;
  }

  oldPositions(devices: readonly DeviceKey[], before: number): Promise<readonly OldPositions[]> {
    return this.#deps.follow
      .daysBefore(devices, dayOf(before))
      .then((old) => old.map(({ records: count, from, to }) => ({ count, from, to })));
  }

  async deleteBefore(key: DeviceKey, before: number): Promise<number> {
    if (!this.#deps.follows(key)) return 0;
    const device = this.#deps.device(key);
    // A refold would put days back that are deleted here. None begins from now on, and one that is under way ends
    // first.
    device.holds++;
    try {
      await this.#deps.loaded(key);
      return await this.#deleteBefore(device, before);
    } finally {
      device.holds--;
    }
  }

  async #deleteBefore(device: FollowedDevice, before: number): Promise<number> {
    const { key } = device;
    if (device.left) return 0;
    const today = device.fold?.head.today?.day;
    // Today's sums stand in the head: it stays, however old it is.
    const day = Math.min(dayOf(before), today ?? Number.NEGATIVE_INFINITY);
    if (device.fold === undefined || !Number.isFinite(day)) return 0;
    const [old] = await this.oldPositions([key], beginOf(day));
    if (old === undefined || old.count === 0 || device.left) return 0;
    // The totals would lack what is not folded in its place yet: the next run deletes it. What can't be folded goes.
    if (device.failures === 0 && device.head?.late.some(({ from }) => from < beginOf(day)) === true) return 0;
    // From now on nothing older is followed, whatever happens below.
    device.fold.keepFrom(beginOf(day));
    this.#deps.changed(device);
    await this.#deps.write(device);
    // Its next follower deletes them.
    if (device.left) return 0;
    await this.#deps.positions.deleteBefore(key, beginOf(day));
    await this.#deps.follow.forgetDays(key, day);
    this.deleted += old.count;
    return old.count;
  }
}
