import { type DaySummary, DaysRequest, type Stop, type Trip, TripsRequest } from "../../contract/trip.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import type { Device } from "../../model/device.ts";
import type { LocationStore } from "../../ports/store.ts";
import { unknownTerms } from "../bodies.ts";
import { locationsIn } from "../history-locations.ts";
import { momentsOf } from "../range.ts";
import type { ShownFrom } from "../shown-from.ts";
import { isTimeZone } from "../time-zones.ts";
import { Days } from "./days.ts";
import { Journey, type TripLimits } from "./journey.ts";
import { type Point, pointOf } from "./point.ts";
import { dayView, stopView, tripView } from "./views.ts";

/** Positions that one answer reads: a month of one each quarter of a minute, some seconds of work in all. */
const mostPositions = 200_000;

/** What is found in a range; `nextFrom`: where to go on, if the range has more positions than one answer reads. */
interface Found {
  readonly nextFrom?: string;
  /** What of the request is probably a mistake. */
  readonly warnings: readonly string[];
}

/**
 * Trips, stops and days of devices, from their history as it is now, whatever came late.
 * @throws ApiError `badRequest` (times, time zone)
 */
export interface Trips {
  list(device: Device, request: TripsRequest): Promise<Found & { readonly trips: Trip[]; readonly stops: Stop[] }>;
  /** In the time zone that is asked for, or the user's. */
  days(user: User, device: Device, request: DaysRequest): Promise<Found & { readonly days: DaySummary[] }>;
}

/** What makes a trip. */
export interface TripSettings {
  readonly stopSeconds: number;
  readonly gapSeconds: number;
  readonly leastMetres: number;
}

/** What trips need of the service. */
export interface TripsContext {
  readonly locations: Pick<LocationStore, "history">;
  readonly shownFrom: ShownFrom;
  /** What makes a trip, where a request does not say. */
  readonly settings: TripSettings;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Trips over the store's history. */
export function createTrips({ locations, shownFrom, settings }: TripsContext): Trips {
  /** A device's points by time; `most` at most. */
  async function* points(device: Device, range: Range, most: number): AsyncGenerator<Point, void, void> {
    const { key, accountKey: account, odometerStart } = device;
    const from = Math.max(range.from, await shownFrom(device));
    if (from > range.to) return;
    for await (const { json } of locations.history(key, { from, to: range.to, limit: most, account, odometerStart }))
      for (const location of locationsIn(json)) yield pointOf(location);
  }

  return {
    async list(device, request) {
      const range = momentsOf(request);
      const journey = new Journey(limitsOf(request, settings));
      const segments = [];
      let last: number | undefined;
      let count = 0;
      for await (const point of points(device, range, mostPositions)) {
        segments.push(...journey.add(point));
        last = point.time;
        count++;
      }
      const { openSince } = journey;
      const more = count === mostPositions && last !== undefined && last < range.to;
      // What is not ended comes whole with the next answer; where one stop or trip fills this one, it is cut.
      const cut = more && (openSince === undefined || openSince <= range.from);
      if (!more || cut) segments.push(...journey.end());
      const nextFrom = more ? (cut ? last : openSince) : undefined;
      return {
        trips: segments.flatMap((segment) => (segment.type === "trip" ? [tripView(segment)] : [])),
        stops: segments.flatMap((segment) => (segment.type === "stop" ? [stopView(segment)] : [])),
        ...(nextFrom !== undefined && { nextFrom: new Date(nextFrom).toISOString() }),
        warnings: unknownTerms(request, TripsRequest.properties),
      };
    },

    async days(user, device, request) {
      const range = momentsOf(request);
      const { timeZone = user.timeZone } = request;
      if (!isTimeZone(timeZone))
        throw new ApiError("badRequest", ["body/timeZone: must be an IANA time zone, Region/City"]);
      const limits = limitsOf(request, settings);
      const journey = new Journey(limits);
      const days = new Days(timeZone, limits.gapMs);
      let last: number | undefined;
      let count = 0;
      // The way to the first point begins at the one before it.
      for await (const point of points(device, { ...range, from: range.from - limits.gapMs }, mostPositions)) {
        count++;
        last = point.time;
        if (point.time < range.from) days.begin(point);
        else {
          days.add(point);
          for (const segment of journey.add(point)) days.addSegment(segment);
        }
      }
      for (const segment of journey.end()) days.addSegment(segment);
      const more = count === mostPositions && last !== undefined && last < range.to;
      const whole = days.all();
      const reached = whole.at(-1);
      // The day that the answer breaks off in comes whole with the next one, unless it alone is too long for an answer.
      const unfinished = more && reached !== undefined && whole.length > 1 ? reached : undefined;
      const nextFrom = more ? (unfinished?.first ?? last) : undefined;
      return {
        days: (unfinished === undefined ? whole : whole.slice(0, -1)).map(dayView),
        ...(nextFrom !== undefined && { nextFrom: new Date(nextFrom).toISOString() }),
        warnings: unknownTerms(request, DaysRequest.properties),
      };
    },
  };
}

function limitsOf(request: TripsRequest, usual: TripSettings): TripLimits {
  const { stopSeconds, gapSeconds, leastMetres } = { ...usual, ...request };
  return { stopMs: stopSeconds * 1000, gapMs: gapSeconds * 1000, leastKm: leastMetres / 1000 };
}
