import type { DeviceKey } from "../model/device.ts";

/** Records of a device that retention may delete, as whole chunks. */
export interface OldPositions {
  readonly count: number;
  /** Event times of the first and the last of them. Without meaning if there are none. */
  readonly from: number;
  readonly to: number;
  /** What `DeviceState.keptFrom` must be before they are deleted. */
  readonly keptFrom: number;
}

/** The result of one step of deleting. */
export interface DeletedPositions {
  readonly positions: number;
  /** There are more, or the device is being sealed and none could be deleted now. */
  readonly more: boolean;
}

/** Deletes old positions; ingest implements it, because it owns the states of devices. */
export interface PositionKeeper {
  /** Event time before which positions of a device may have been deleted. Undefined: none was. No promise if the device's state is in memory. */
  keptFrom(device: DeviceKey): number | undefined | Promise<number | undefined>;
  /** One bounded step: deletes a device's positions from before an event time, as whole chunks of records. From then on, no report from before `keptFrom` is stored. */
  deleteBefore(device: DeviceKey, before: number): Promise<DeletedPositions>;
}
