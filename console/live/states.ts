/** States of a device on the map, in the order of their numbers in the store. */
export const deviceStates = ["moving", "idling", "stopped", "alert", "offline"] as const;

/** State of a device on the map. */
export type DeviceState = (typeof deviceStates)[number];

/** What a device's state is made of. */
export interface Facts {
  /** km/h. */
  readonly speed: number;
  /** When the position was taken, epoch ms. */
  readonly fixAt: number;
  readonly connected: boolean;
  /** When the device last said anything, epoch ms. */
  readonly contactAt: number;
  readonly ignition: boolean;
  /** A critical alert of it is open. */
  readonly critical: boolean;
}

/** Slower than this is the noise of a standing receiver, km/h. */
export const movingFrom = 3;
/** A position older than this says nothing of whether the vehicle moves now. */
export const freshMs = 5 * 60_000;
/** Without contact for this time a device is offline. The legend says so. */
export const offlineMs = 10 * 60_000;

/**
 * The number of a device's state. An alert goes before everything: it must not vanish because its device falls silent.
 */
export function stateOf(facts: Facts, now: number): number {
  return deviceStates.indexOf(nameOf(facts, now));
}

function nameOf({ speed, fixAt, connected, contactAt, ignition, critical }: Facts, now: number): DeviceState {
  if (critical) return "alert";
  if (!connected && now - contactAt > offlineMs) return "offline";
  if (speed >= movingFrom && now - fixAt < freshMs) return "moving";
  return ignition ? "idling" : "stopped";
}
