import type { LocationsRequest } from "../contract/location.ts";
import { parseInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { Device } from "../model/device.ts";
import type { Clock } from "../ports/clock.ts";
import type { HistoryChunk, HistoryRange, LocationStore, RecordKey } from "../ports/store.ts";
import { cursorOf, parseCursor } from "./cursor.ts";
import { secondsToNextDay, type Tally } from "./tally.ts";

/** Pieces of an answer, as the store gives them. A reader that stops early must end the iteration, which ends the store's too. */
export type HistoryPieces = AsyncGenerator<string | Uint8Array, void, void>;

/** The members of an answer after its envelope: `"locations":[...]` and, where more follow, `nextCursor`. */
export interface OpenHistory {
  readonly start: string;
  readonly rest: HistoryPieces;
}

/** Histories of devices, within each device's daily results. */
export interface History {
  /**
   * Opens a history: its first chunk is read, so what fails at once fails here.
   * @throws ApiError `badRequest` (times, cursor), `dailyResults`
   */
  open(device: Device, request: LocationsRequest): Promise<OpenHistory>;
}

/** What histories need of the service. */
export interface HistoryContext {
  readonly locations: LocationStore;
  readonly results: Tally;
  readonly clock: Clock;
  /** Records that can be read from each device in a UTC day. */
  readonly dailyResults: number;
}

/** Histories over their store, within each device's daily results. */
export function createHistory(context: HistoryContext): History {
  const { locations, results, clock, dailyResults } = context;

  /** Counts a chunk that is about to be given out. False: it is more than what is left of the day. */
  async function spend(device: Device, chunk: HistoryChunk): Promise<boolean> {
    const entry = await results.entry(device.key, clock.now());
    if (entry.daily + chunk.count > dailyResults) return false;
    results.add(entry, chunk.count);
    return true;
  }

  async function* pieces(
    device: Device,
    range: HistoryRange,
    chunks: AsyncIterator<HistoryChunk>,
    first: IteratorResult<HistoryChunk, unknown>,
  ): HistoryPieces {
    let last: RecordKey | undefined = range.after;
    let count = 0;
    let more = false;
    try {
      yield "";
      for (let next = first; next.done !== true && !more; next = await chunks.next()) {
        // The first chunk is counted when it is read; other readers may meanwhile have used up what is left of the day.
        if (next !== first && !(await spend(device, next.value))) more = true;
        else {
          if (count > 0) yield ",";
          yield next.value.json;
          count += next.value.count;
          last = next.value.last;
        }
      }
    } finally {
      await chunks.return?.();
    }
    more ||=
      count === range.limit && last !== undefined && (await follows(device, { ...range, after: last, limit: 1 }));
    yield more && last !== undefined ? `],"nextCursor":"${cursorOf(last)}"` : "]";
  }

  async function follows(device: Device, range: HistoryRange): Promise<boolean> {
    for await (const _ of locations.history(device.key, range)) return true;
    return false;
  }

  return {
    async open(device, request) {
      const now = clock.now();
      const asked = rangeOf(request);
      const left = dailyResults - (await results.entry(device.key, now)).daily;
      const usedUp = () => new ApiError("dailyResults", [], secondsToNextDay(now));
      if (left <= 0) throw usedUp();
      const range = { ...asked, limit: Math.min(asked.limit, left), odometerStart: device.odometerStart };
      const chunks = locations.history(device.key, range)[Symbol.asyncIterator]();
      const first = await chunks.next();
      if (first.done !== true && !(await spend(device, first.value))) {
        await chunks.return?.();
        throw usedUp();
      }
      const rest = pieces(device, range, chunks, first);
      // A generator that has not begun would not end the store's iteration when it is ended.
      await rest.next();
      return { start: '"locations":[', rest };
    },
  };
}

function rangeOf(request: LocationsRequest): Pick<HistoryRange, "from" | "to" | "after" | "limit"> {
  const from = parseInstant(request.from);
  const to = parseInstant(request.to);
  const after = request.cursor === undefined ? undefined : parseCursor(request.cursor);
  const details: string[] = [];
  if (from === undefined) details.push("body/from: must be an RFC 3339 date-time");
  if (to === undefined) details.push("body/to: must be an RFC 3339 date-time");
  if (from !== undefined && to !== undefined && from > to) details.push("body/to: must not be before body/from");
  if (request.cursor !== undefined && after === undefined)
    details.push("body/cursor: must be the nextCursor of an answer");
  if (from === undefined || to === undefined || details.length > 0) throw new ApiError("badRequest", details);
  return { from, to, limit: request.limit ?? Number.MAX_SAFE_INTEGER, ...(after === undefined ? {} : { after }) };
}
