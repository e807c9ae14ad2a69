import type { DeviceKey } from "../../model/device.ts";
import type { Change, ChangeLog } from "./change-log.ts";

/** Kinds of events that a listener chooses from. */
export const liveKinds = ["location", "alert", "status", "command"] as const;
export type LiveKind = (typeof liveKinds)[number];

/** What is known of a device of an account that somebody listens to. */
export interface LiveDevice {
  readonly key: DeviceKey;
  readonly id: string;
  readonly name: string;
  readonly odometerStart: number;
  /** Its number among the devices of the account, small and never another one's. */
  readonly index: number;
}

/**
 * What listeners are told. Where a device is and how it is connected is read when the first of them is; everything else
 * is an event already.
 */
export type LiveChange =
  | { readonly kind: "location" | "status"; readonly device: LiveDevice }
  | { readonly kind: "alert" | "command" | "gone"; readonly device: LiveDevice; readonly frame: Uint8Array };

/** What a device's place in the log is about. */
export function aboutDevice(kind: "location" | "status", id: string): string {
  return `${kind} ${id}`;
}

/** An event. Where it tells a position: that, and how the device is connected, as JSON. */
export interface Framed {
  readonly frame: Uint8Array;
  readonly status?: string;
  readonly position?: { readonly latitude: number; readonly longitude: number } | undefined;
}

/** Why a stream begins anew. */
export type ResetReason = "unknownId" | "missed" | "visibility";

/** The changes of an account as a listener reads them. */
export interface LiveChanges {
  readonly changes: Pick<ChangeLog<LiveChange>, "newest" | "lost" | "after" | "some">;
  /** The id of an event at this place. */
  cursor(seq: number): string;
  /** A change as an event, made once for all listeners. Rejects where the device's state must be read and can't. */
  framed(change: Change<LiveChange>): Framed | Promise<Framed>;
  /** Whether the account has the device, and it has not expired. */
  has(device: LiveDevice): boolean;
}
