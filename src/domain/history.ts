import { AlertsRequest } from "../contract/alert.ts";
import { LocationsRequest } from "../contract/location.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { Device } from "../model/device.ts";
import type { AlertStore } from "../ports/alert-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { Histories, HistoryChunk } from "../ports/history.ts";
import type { PositionPlace } from "../ports/positions.ts";
import { readAlerts } from "./alerts.ts";
import { unknownTerms } from "./bodies.ts";
import type { ListCursors, ListScope } from "./list-cursors.ts";
import { momentsOf } from "./range.ts";
import type { ShownFrom } from "./shown-from.ts";
import { secondsToNextDay, type Tally } from "./tally.ts";

/**
 * Pieces of an answer, as the store gives them: bytes are to be read until the next piece is asked for. A reader that
 * stops early must end the iteration, which ends the store's too.
 */
export type HistoryPieces = AsyncGenerator<string | Uint8Array, void, void>;

/** The members of an answer after its envelope: the list and, where more follow, `nextCursor`. */
export interface OpenHistory {
  readonly start: string;
  readonly rest: HistoryPieces;
  /** What of the request is probably a mistake. */
  readonly warnings: readonly string[];
}

/** How records are written down. */
export interface RecordForm {
  /** Some records: JSON objects with commas between, to be read until the next ones are asked for. */
  records(json: Uint8Array): Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** What stands after all of them. `last`: records that the device's daily results keep back follow this one. */
  end(last: PositionPlace | undefined): string | Uint8Array;
}

/**
 * Histories of devices, within each device's daily results. A history that is opened has read its first chunk, so what
 * fails at once fails here.
 * @throws ApiError `badRequest` (times, cursor), `dailyResults`
 */
export interface History {
  /** `"locations":[...]` */
  locations(device: Device, request: LocationsRequest): Promise<OpenHistory>;
  /** `"readings":[...]` */
  readings(device: Device, request: LocationsRequest): Promise<OpenHistory>;
  /** `"alerts":[...]` */
  alerts(device: Device, request: AlertsRequest): Promise<OpenHistory>;
  /** The locations of a range (inclusive, epoch ms) in another form. */
  written(device: Device, range: Pick<Range, "from" | "to">, form: RecordForm): Promise<HistoryPieces>;
}

/** What histories need of the service. */
export interface HistoryContext {
  readonly histories: Pick<Histories, "history">;
  readonly alerts: Pick<AlertStore, "list">;
  readonly cursors: ListCursors;
  readonly results: Tally;
  readonly shownFrom: ShownFrom;
  readonly clock: Clock;
  /** Records, locations and alerts together, that can be read from each device in a UTC day. */
  readonly dailyResults: number;
}

/** The part of a history that is asked for. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly after?: PositionPlace;
  readonly limit: number;
}

/** A device's records of one kind, from their store. */
interface Source {
  /** Name of the list. */
  readonly list: string;
  readonly device: Device;
  /** The fields that a request for it may have. */
  readonly terms: object;
  readonly read: (range: Range) => AsyncIterable<HistoryChunk>;
}

/** What a device's records are read from. */
type Records = Pick<Source, "device" | "read">;

/** Reads records within each device's daily results. */
function countedReader({ results, clock, dailyResults }: Pick<HistoryContext, "results" | "clock" | "dailyResults">) {
  /** Counts a chunk that is about to be given out. False: it is more than what is left of the day. */
  async function spend(device: Device, chunk: HistoryChunk): Promise<boolean> {
    const entry = await results.entry(device.key, clock.now());
    if (entry.daily + chunk.count > dailyResults) return false;
    results.add(entry, chunk.count);
    return true;
  }

  async function* pieces(
    source: Records,
    range: Range,
    chunks: AsyncIterator<HistoryChunk>,
    first: IteratorResult<HistoryChunk, unknown>,
    form: RecordForm,
  ): HistoryPieces {
    let last: PositionPlace | undefined = range.after;
    let count = 0;
    let more = false;
    try {
      yield "";
      for (let next = first; next.done !== true && !more; next = await chunks.next()) {
        // The first chunk is counted when it is read; other readers may meanwhile have used up what is left of the day.
        if (next !== first && !(await spend(source.device, next.value))) more = true;
        else {
          yield* form.records(next.value.json);
          count += next.value.count;
          last = next.value.last;
        }
      }
    } finally {
      await chunks.return?.();
    }
    more ||= count === range.limit && last !== undefined && (await follows(source, { ...range, after: last }));
    yield form.end(more ? last : undefined);
  }

  async function begin(source: Records, asked: Range, form: RecordForm): Promise<HistoryPieces> {
    const now = clock.now();
    const left = dailyResults - (await results.entry(source.device.key, now)).daily;
    const usedUp = () => new ApiError("dailyResults", [], secondsToNextDay(now));
    if (left <= 0) throw usedUp();
    const range = { ...asked, limit: Math.min(asked.limit, left) };
    const chunks = source.read(range)[Symbol.asyncIterator]();
    const first = await chunks.next();
    if (first.done !== true && !(await spend(source.device, first.value))) {
      await chunks.return?.();
      throw usedUp();
    }
    const rest = pieces(source, range, chunks, first, form);
    // A generator that has not begun would not end the store's iteration when it is ended.
    await rest.next();
    return rest;
  }

  return begin;
}

/** Histories over their stores, within each device's daily results. */
export function createHistory(context: HistoryContext): History {
  const { histories, alerts, cursors, shownFrom } = context;
  const begin = countedReader(context);

  async function open(request: LocationsRequest, source: Source): Promise<OpenHistory> {
    const range = rangeOf(request, source, cursors);
    const rest = await begin(
      source,
      range,
      jsonList((last) => cursorOf(cursors, source, range, last)),
    );
    return { start: `"${source.list}":[`, rest, warnings: unknownTerms(request, source.terms) };
  }

  return {
    locations: async (device, request) =>
      open(request, recordsOf(histories, device, await shownFrom(device), "locations")),
    readings: async (device, request) =>
      open(request, recordsOf(histories, device, await shownFrom(device), "readings")),
    async alerts(device, request) {
      const named = request.alertName === undefined ? {} : { name: request.alertName };
      const read = (range: Range) => readAlerts(alerts, device.key, { ...range, ...named });
      return open(request, { list: "alerts", device, terms: AlertsRequest.properties, read });
    },
    written: async (device, range, form) =>
      begin(
        recordsOf(histories, device, await shownFrom(device), "locations"),
        { ...range, limit: Number.MAX_SAFE_INTEGER },
        form,
      ),
  };
}

/** Records as a JSON list that has begun, and where more follow `nextCursor`. */
function jsonList(cursor: (last: PositionPlace) => string): RecordForm {
  let begun = false;
  return {
    *records(json) {
      if (begun) yield ",";
      begun = true;
      yield json;
    },
    end: (last) => (last === undefined ? "]" : `],"nextCursor":"${cursor(last)}"`),
  };
}

/** A device's records from a moment on, as locations or as readings. */
function recordsOf(
  store: HistoryContext["histories"],
  device: Device,
  shownFrom: number,
  list: "locations" | "readings",
): Source {
  const { key, accountKey: account, odometerStart } = device;
  const read = (range: Range) => {
    const from = Math.max(range.from, shownFrom);
    return store.history(key, { ...range, from, account, odometerStart, readings: list === "readings" });
  };
  return { list, device, terms: LocationsRequest.properties, read };
}

/** Whether the source has anything in a range. */
async function follows({ read }: Records, range: Range): Promise<boolean> {
  for await (const _ of read({ ...range, limit: 1 })) return true;
  return false;
}

/** What a cursor holds for: in another range it would skip records in silence. */
function scopeOf({ list, device }: Source, { from, to }: Pick<Range, "from" | "to">): ListScope {
  return [list, device.key, from, to];
}

function cursorOf(cursors: ListCursors, source: Source, range: Range, { time, nth }: PositionPlace): string {
  return cursors.write(scopeOf(source, range), `${time}.${nth}`);
}

/** The record that a cursor names; undefined: no cursor of ours, or one of another list. */
function recordOf(place: string | undefined): PositionPlace | undefined {
  const [time, nth] = place?.split(".").map(Number) ?? [];
  return time === undefined || nth === undefined ? undefined : { time, nth };
}

function rangeOf(request: LocationsRequest, source: Source, cursors: ListCursors): Range {
  const range = { ...momentsOf(request), limit: request.limit ?? Number.MAX_SAFE_INTEGER };
  if (request.cursor === undefined) return range;
  const after = recordOf(cursors.read(scopeOf(source, range), request.cursor));
  if (after !== undefined) return { ...range, after };
  throw new ApiError("badRequest", ["body/cursor: must be the nextCursor of an answer for this device and range"]);
}
