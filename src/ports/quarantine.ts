import type { SpokenWay } from "../model/device.ts";
import type { KnockCause } from "../model/knock.ts";

/** A device that a tracker says it is. */
export interface KnockedDevice {
  readonly id: string;
  readonly accountKey: number;
}

/** A tracker that said who it is and was not let in. */
export interface Knock {
  readonly cause: KnockCause;
  readonly ids: readonly string[];
  readonly protocol: string;
  readonly transport: SpokenWay["transport"];
  readonly address: string;
  /** The registered device that it says it is; absent where there is none (`unknown`). */
  readonly device?: KnockedDevice | undefined;
}

/** What is remembered of a tracker that knocks. Of its identifiers only the first few. */
export interface RememberedKnock extends Omit<Knock, "device" | "transport"> {
  /** Epoch ms of the first and the last attempt. */
  readonly firstSeen: number;
  readonly lastSeen: number;
  readonly attempts: number;
  /** Grows with each attempt of any tracker: the order of the last attempts, whatever the clock says. */
  readonly seq: number;
}

/**
 * A bounded list of trackers that were not let in. Nothing that they sent is kept. Those that no device is registered
 * for belong to whoever runs the service; all others belong to the account of their device, and only it may see them.
 * Whoever has most entries makes room first: an address, all datagrams together, or the account where there is one.
 */
export interface Quarantine {
  add(knock: Knock): void;
  /** Trackers that belong to no account, the last seen first. */
  unknown(): readonly RememberedKnock[];
  /** Those that said they are this device, the last seen first. */
  ofDevice(id: string): readonly RememberedKnock[];
  /**
   * Identifiers that are a device's from now on: what is remembered of them belongs to its account, and is forgotten.
   */
  registered(ids: readonly string[]): void;
  /** The device is gone. */
  removed(id: string): void;
}
