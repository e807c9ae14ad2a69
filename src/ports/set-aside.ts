import type { SetAsideCause } from "../model/commit.ts";
import type { DeviceKey } from "../model/device.ts";

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
