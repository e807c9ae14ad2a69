import type { Device, SpokenWay } from "../model/device.ts";

/** How a device came when it last said who it is. */
export interface Seen extends Pick<SpokenWay, "protocol" | "transport" | "address"> {
  /** Epoch ms. */
  readonly at: number;
}

/** Whether a device is connected, and when something last came from it. */
export interface Contact extends Pick<Seen, "protocol" | "at"> {
  /** Commands reach it now. */
  readonly connected: boolean;
}

/** A device. One that is registered anew under the same id has another key, and nothing came from it. */
export type PresentDevice = Pick<Device, "id" | "key">;

/**
 * Where devices were last seen, by whichever process; in memory, so it begins with the process's start, and holds those
 * that were seen last.
 */
export interface Presence {
  lastSeen(device: PresentDevice): Seen | undefined;
  /** Undefined: nothing came from it since the start. */
  contact(device: PresentDevice): Contact | undefined;
  /** Called when a device is reached from now on, on another way, or no longer. */
  onChange(listener: (device: string) => void): void;
}
