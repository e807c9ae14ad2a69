import { arrivalOf, type DeviceState } from "../model/location.ts";

/**
 * The device's own time at a moment of ours: its last report's, and what has passed since that came. So a backlog that is still coming in is not taken for
 * hours of silence, and a tracker's slow clock harms nothing. 0: it never reported.
 */
export function deviceTime(state: DeviceState, now: number): number {
  const arrival = arrivalOf(state);
  return arrival === undefined ? state.time : state.time + Math.max(0, now - arrival);
}

/** The moment, by our clock, at which the device's own time reaches `time`. */
export function momentOf(state: DeviceState, time: number): number {
  const arrival = arrivalOf(state);
  return arrival === undefined ? time : arrival + (time - state.time);
}
