import type { DeviceKey } from "../model/device.ts";

/**
 * Why a device's reports can't be stored though others' can. `damaged`: something of it on the disk can't be read · `tooLarge`: memory runs out over it ·
 * `defect`: a fault of the service.
 */
export type SetAsideCause = "damaged" | "tooLarge" | "defect";

/** Reports of a device that can't be stored, and so are not acknowledged. */
export interface SetAside {
  /** Epoch ms. */
  readonly since: number;
  readonly cause: SetAsideCause;
  /** Reports that are kept in memory and tried again by themselves. */
  readonly kept: number;
  /** Reports beyond that, which only the tracker has. */
  readonly left: number;
  /** Tries that failed. */
  readonly tries: number;
}

/** Who tells what is set aside. */
export interface SetAsides {
  /** Undefined: nothing of the device is. */
  setAside(device: DeviceKey): SetAside | undefined;
}
