import { type DaySummary, DaysRequest, type Stop, type Trip, TripsRequest } from "../../contract/trip.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import { startOfDayIn } from "../../model/account-day.ts";
import type { Device } from "../../model/device.ts";
import type { InTurn, Steps } from "../../model/steps.ts";
import type { Histories } from "../../ports/history.ts";
import { unknownTerms } from "../bodies.ts";
import { locationsIn } from "../history-locations.ts";
import { momentsOf } from "../range.ts";
import type { ShownFrom } from "../shown-from.ts";
import { isTimeZone } from "../time-zones.ts";
import { Days } from "./days.ts";
import { Journey, type TripLimits } from "./journey.ts";
import { type Point, pointOf } from "./point.ts";
import { dayView, stopView, tripView } from "./views.ts";

/**
 * What one answer reads and tells: a month of a position each quarter of a minute, some seconds of work in all; trips
 * and stops of some megabytes.
 */
export const mostOfAnswer: MostOfAnswer = Object.freeze({ positions: 200_000, segments: 10_000 });
/**
 * How long before a range days are read for what was under way when it began, at most, ms: a position a second leaves
 * room for the range.
 */
const longestBefore = 86_400_000;
/** Bytes of history from which reading them takes its turn with those of others. */
const largePiece = 65_536;

/** How much one answer reads and tells. */
export interface MostOfAnswer {
  readonly positions: number;
  readonly segments: number;
}

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
  list(
    device: Device,
    request: TripsRequest,
    stillWanted: StillWanted,
  ): Promise<Found & { readonly trips: Trip[]; readonly stops: Stop[] }>;
  /** In the time zone that is asked for, or the user's. */
  days(
    user: User,
    device: Device,
    request: DaysRequest,
    stillWanted: StillWanted,
  ): Promise<Found & { readonly days: DaySummary[] }>;
}

/** Throws where nobody waits for the answer any more: then no more is read for it. */
export type StillWanted = () => void;

/** What makes a trip. */
export interface TripSettings {
  readonly stopSeconds: number;
  readonly gapSeconds: number;
  readonly leastMetres: number;
}

/** What trips need of the service. */
export interface TripsContext {
  readonly histories: Pick<Histories, "history">;
  readonly shownFrom: ShownFrom;
  /** What makes a trip, where a request does not say. */
  readonly settings: TripSettings;
  readonly inTurn: InTurn;
  readonly most: MostOfAnswer;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Trips over the store's history. */
export function createTrips(context: TripsContext): Trips {
  const { settings, most } = context;

  return {
    async list(device, request, stillWanted) {
      const range = momentsOf(request);
      const journey = new Journey(limitsOf(request, settings));
      const segments = [];
      let last: number | undefined;
      let count = 0;
      for await (const point of pointsOf(context, device, range, stillWanted)) {
        segments.push(...journey.add(point));
        last = point.time;
        count++;
        if (segments.length >= most.segments) break;
      }
      const { openSince } = journey;
      const isFull = count === most.positions || segments.length >= most.segments;
      const more = isFull && last !== undefined && last < range.to;
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

    async days(user, device, request, stillWanted) {
      const range = momentsOf(request);
      const { timeZone = user.timeZone } = request;
      if (!isTimeZone(timeZone))
        throw new ApiError("badRequest", ["body/timeZone: must be an IANA time zone, Region/City"]);
      const limits = limitsOf(request, settings);
      const journey = new Journey(limits);
      const days = new Days(timeZone, limits.gapMs, range.from);
      let last: number | undefined;
      let count = 0;
      // A silence ends all: what is before one has nothing to do with the range.
      const before = { ...range, from: range.from - Math.min(limits.gapMs, longestBefore) };
      for await (const point of pointsOf(context, device, before, stillWanted)) {
        count++;
        last = point.time;
        days.add(point);
        for (const segment of journey.add(point)) days.addSegment(segment);
      }
      for (const segment of journey.end()) days.addSegment(segment);
      const more = count === most.positions && last !== undefined && last < range.to;
      const whole = days.all();
      // The day that the answer breaks off in comes whole with the next one, unless it alone is too long for an answer.
      const unfinished = more && whole.length > 1 ? whole.at(-1) : undefined;
      const nextFrom = more ? (unfinished === undefined ? last : startOfDayIn(timeZone, unfinished.first)) : undefined;
      return {
        days: (unfinished === undefined ? whole : whole.slice(0, -1)).map(dayView),
        ...(nextFrom !== undefined && { nextFrom: new Date(nextFrom).toISOString() }),
        warnings: unknownTerms(request, DaysRequest.properties),
      };
    },
  };
}

/** A device's points by time, as many as one answer reads at most. */
async function* pointsOf(
  { histories, shownFrom, inTurn, most }: TripsContext,
  device: Device,
  range: Range,
  stillWanted: StillWanted,
): AsyncGenerator<Point, void, void> {
  const { key, accountKey: account, odometerStart } = device;
  const from = Math.max(range.from, await shownFrom(device));
  if (from > range.to) return;
  const asked = { from, to: range.to, limit: most.positions, account, odometerStart };
  for await (const { json } of histories.history(key, asked)) {
    stillWanted();
    yield* await inTurn(account, pointsIn(json));
  }
}

function* pointsIn(json: Uint8Array): Steps<readonly Point[]> {
  if (json.length >= largePiece) yield;
  return locationsIn(json).map(pointOf);
}

function limitsOf(request: TripsRequest, usual: TripSettings): TripLimits {
  const { stopSeconds, gapSeconds, leastMetres } = { ...usual, ...request };
  return { stopMs: stopSeconds * 1000, gapMs: gapSeconds * 1000, leastKm: leastMetres / 1000 };
}
