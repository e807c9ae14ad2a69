import type { DeviceKey } from "../model/device.ts";

/** Records of a device that retention may delete, as whole chunks. */
export interface OldPositions {
  readonly count: number;
  /** Event times of the first and the last of them. They mean nothing where there is none. */
  readonly from: number;
  readonly to: number;
  /** What `DeviceState.keptFrom` must be before they are deleted. */
  readonly keptFrom: number;
}

/** What one step of deleting did. */
export interface DeletedPositions {
  readonly positions: number;
  /** There are more, or the device is being sealed and none could be deleted now. */
  readonly more: boolean;
}

/** Deletes old positions; ingest implements it, because it owns the states of devices. */
export interface PositionKeeper {
  /** Event time before which positions of a device may be deleted; undefined: none was. Answers at once where the state is in memory. */
  keptFrom(device: DeviceKey): number | undefined | Promise<number | undefined>;
  /** One bounded step: deletes a device's positions before an event time, as whole chunks of records. No report from before what is deleted is stored from then on. */
  deleteBefore(device: DeviceKey, before: number): Promise<DeletedPositions>;
}
