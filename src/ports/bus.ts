import type { AlertEnd } from "../model/alert.ts";
import type { Command } from "../model/command.ts";
import type { DeviceKey } from "../model/device.ts";

/** A device that a commit changed, and what its rules found. */
export interface CommittedDevice {
  readonly device: { readonly key: DeviceKey; readonly accountKey: number };
  readonly plan: {
    readonly alerts?: readonly { readonly id: string }[] | undefined;
    readonly ended?: readonly AlertEnd[] | undefined;
  };
}

/** What nodes and parts tell each other after a commit. */
export type BusEvent =
  /** A device was made, changed or deleted, or expired: connections and caches must ask again. */
  | {
      readonly type: "deviceChanged";
      readonly accountKey: number;
      readonly key: number;
      readonly id: string;
      /** The id that the device had before; absent: the same. An event with the old id was published first. */
      readonly formerId?: string;
    }
  /** A user was changed or deleted, or its key was. */
  | { readonly type: "userChanged"; readonly accountKey: number; readonly key: number }
  /** A group of the account was made, changed or deleted: what its users see must be asked again. */
  | { readonly type: "groupChanged"; readonly accountKey: number }
  /** A rule or a geofence of the account was made, changed or deleted. */
  | { readonly type: "rulesChanged"; readonly accountKey: number }
  /** A commit changed these devices, or failed and may have. */
  | { readonly type: "committed"; readonly devices: readonly CommittedDevice[] }
  /** Somebody acknowledged or closed alerts of an account. */
  | { readonly type: "alertsHandled"; readonly accountKey: number; readonly ids: readonly string[] }
  /** A command was recorded, or what became of it. */
  | { readonly type: "commandChanged"; readonly command: Command }
  /** A device is reached from now on, on another way, or no longer. */
  | { readonly type: "reachChanged"; readonly id: string }
  /** Notices were committed, or are to be sent again. */
  | { readonly type: "noticesQueued" };

/** Delivers events to every node, this one included; at most once, so nothing may rest on it alone. */
export interface Bus {
  publish(event: BusEvent): void;
  /** Returns the way to stop listening. */
  subscribe(listener: (event: BusEvent) => void): () => void;
  close(): Promise<void>;
}
