import type { DaySummary, Stop as StopView, Trip as TripView } from "../../contract/trip.ts";
import type { Day } from "./days.ts";
import type { End, Segment, Stop, Trip } from "./journey.ts";

const msOfHour = 3_600_000;

/** A trip as the API gives it. */
export function tripView(trip: Trip): TripView {
  const { distanceKm: distance, maxSpeed, start, end } = trip;
  const hours = (end.time - start.time) / msOfHour;
  const averageSpeed = hours > 0 ? Math.round((distance / hours) * 10) / 10 : 0;
  return { ...spanView(trip), distance, averageSpeed, ...(maxSpeed !== undefined && { maxSpeed }) };
}

/** A stop as the API gives it. */
export function stopView(stop: Stop): StopView {
  return spanView(stop);
}

/** A day as the API gives it. */
export function dayView({ date, first, last, distanceKm, tripMs, trips, idleMs, maxSpeed }: Day): DaySummary {
  return {
    date,
    firstDateTime: new Date(first).toISOString(),
    lastDateTime: new Date(last).toISOString(),
    distance: Math.round(distanceKm * 1000) / 1000,
    tripSeconds: secondsOf(tripMs),
    trips,
    ...(idleMs !== undefined && { idlingSeconds: secondsOf(idleMs) }),
    ...(maxSpeed !== undefined && { maxSpeed }),
  };
}

function spanView({ start, end, idleMs, openStart, openEnd }: Segment): StopView {
  return {
    start: placeView(start),
    end: placeView(end),
    durationSeconds: secondsOf(end.time - start.time),
    ...(idleMs !== undefined && { idlingSeconds: secondsOf(idleMs) }),
    openStart,
    openEnd,
  };
}

function placeView({ time, latitude, longitude }: End) {
  return { dateTime: new Date(time).toISOString(), latitude, longitude };
}

function secondsOf(ms: number): number {
  return Math.round(ms / 1000);
}
