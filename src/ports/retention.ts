import type { DeviceKey } from "../model/device.ts";

/** Records of a device that retention may delete: those of whole UTC days. */
export interface OldPositions {
  readonly count: number;
  /** Event times of the first and the last of them. Without meaning if there are none. */
  readonly from: number;
  readonly to: number;
}

/** Deletes old positions; the follower implements it, because it owns the heads of devices. */
export interface PositionKeeper {
  /**
   * Event time before which positions of a device were deleted. Undefined: none was. No promise if the device's head is
   * in memory.
   */
  keptFrom(device: DeviceKey): number | undefined | Promise<number | undefined>;
  /** What `deleteBefore` would delete of each of these devices, in the order asked. */
  oldPositions(devices: readonly DeviceKey[], before: number): Promise<readonly OldPositions[]>;
  /**
   * Deletes a device's positions of the UTC days that ended before an event time. From then on, no record of these days
   * is read. No totals change: where late records of these days are not folded yet, nothing is deleted. How many
   * records it deleted.
   */
  deleteBefore(device: DeviceKey, before: number): Promise<number>;
}
