import type { DeviceKey } from "../model/device.ts";
import type { BusEvent } from "./bus.ts";

/**
 * Shares of the devices: the follower of each is one process at a time. A device's share is its key modulo this number.
 */
export const bucketCount = 16;

/** The share of a device. */
export function bucketOf(device: DeviceKey): number {
  return device % bucketCount;
}

/** What becomes of the shares of this process. */
export interface BucketsHeir {
  /** These are this process's from now on. */
  gained(buckets: readonly number[]): void;
  /**
   * These go to another process as soon as this resolves: `follows` says no already, and what is folded of them is
   * committed here.
   */
  lose(buckets: readonly number[]): Promise<void>;
}

/**
 * The processes of one service on one database, as this process sees them. Who dies, or can't reach the database while
 * others can, is missed after some seconds: its shares go to the others. If it comes back, it is told that it was
 * replaced (`StoreUnavailable`, as for a service that was taken over), and ends.
 */
export interface Processes {
  /** A name that this process gave itself at its start. */
  readonly name: string;
  /** The names of the others that are alive. */
  readonly others: readonly string[];
  /**
   * Whether this process follows the device: folds what is appended of it, judges its rules, and deletes what is old.
   */
  follows(device: DeviceKey): boolean;
  /** Set before `start`. */
  heir: BucketsHeir | undefined;
  /**
   * Has others told, in order, a tenth of a second later at the latest. Of how a device came, was heard of and changed,
   * the last is told, behind the rest. May be lost when this process dies, and only then. Does nothing while there are
   * no others.
   */
  tell(event: BusEvent): void;
  /** Called with what others told, once each, in the order of each teller. */
  onTold(listener: (event: BusEvent, teller: string) => void): void;
  /** Called when another process has come or is missed. */
  onOthers(listener: (others: readonly string[]) => void): void;
  /** Takes its shares. Until then this process follows nothing. */
  start(): Promise<void>;
  /** Gives its shares back, and is no longer one of them. */
  stop(): Promise<void>;
}
