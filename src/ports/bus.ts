import type { AlertEnd } from "../model/alert.ts";
import type { Command } from "../model/command.ts";
import type { DeviceKey } from "../model/device.ts";
import type { CommandResult } from "../model/effects.ts";
import type { Seen } from "./presence.ts";
import type { SmsReceipt } from "./sms.ts";

/** A device that a commit changed, and what its rules found. */
export interface CommittedDevice {
  readonly device: { readonly key: DeviceKey; readonly accountKey: number };
  readonly plan: {
    readonly alerts?: readonly { readonly id: string }[] | undefined;
    readonly ended?: readonly AlertEnd[] | undefined;
  };
}

/** How a device came to the process that tells. */
export interface ReachChange extends Seen {
  readonly id: string;
  readonly key: DeviceKey;
  /**
   * The process reaches it from now on, or on another way; absent: not, or no longer. Of two processes that reach a
   * device, the one with the higher mark does: whoever takes it over takes a higher one.
   */
  readonly mark?: number;
}

/** A device that was heard of. */
export interface HeardDevice {
  readonly key: DeviceKey;
  readonly id: string;
  /** When, epoch ms. */
  readonly at: number;
}

/** What processes and parts tell each other after a commit. */
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
  /**
   * The process that tells heard of these devices, and there was nothing to store. It tells so once a second, while
   * there are others.
   */
  | { readonly type: "heard"; readonly devices: readonly HeardDevice[] }
  /** Somebody acknowledged or closed alerts of an account. */
  | { readonly type: "alertsHandled"; readonly accountKey: number; readonly ids: readonly string[] }
  /** A command was recorded, or what became of it. `underWay`: its outcome is still waited for. */
  | { readonly type: "commandChanged"; readonly command: Command; readonly underWay?: true }
  /** How these devices came to the process that tells, and whether it reaches them. */
  | { readonly type: "reachChanged"; readonly devices: readonly ReachChange[] }
  /**
   * A device spoke to this process by datagrams: whoever reaches it, and has heard nothing of it for so long, reaches
   * it no longer.
   */
  | { readonly type: "reachWanted"; readonly id: string; readonly quietSeconds: number }
  /** A device answered a command by its name, and this process has asked it nothing. */
  | { readonly type: "commandAnswered"; readonly id: string; readonly result: CommandResult }
  /** Notices were committed, or are to be sent again. */
  | { readonly type: "noticesQueued" }
  /** So much that a limit counts has happened, or is taken back (below 0). */
  | { readonly type: "counted"; readonly limit: string; readonly key: string; readonly count: number }
  /** Sessions of browsers ended, by the hashes of their tokens. */
  | { readonly type: "signInsEnded"; readonly hashes: readonly string[] }
  /** A link ended, by the hash of its token. */
  | { readonly type: "shareEnded"; readonly hash: string }
  /** The SMS gateway told this process of a message that no record names yet. */
  | { readonly type: "smsReceipt"; readonly receipt: SmsReceipt }
  /** Other processes have come, or are missed. Each process finds that out by itself. */
  | { readonly type: "processesChanged"; readonly came: readonly string[]; readonly missed: readonly string[] };

/** Delivers events to every process, this one included; at most once, so nothing may rest on it alone. */
export interface Bus {
  /** `here`: to this process alone, since the others find it out by themselves. */
  publish(event: BusEvent, to?: "here"): void;
  /** `from`: the process that told it; absent: this one. Returns the way to stop listening. */
  subscribe(listener: (event: BusEvent, from?: string) => void): () => void;
  close(): Promise<void>;
}
