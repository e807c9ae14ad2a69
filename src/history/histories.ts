import type { DeviceKey } from "../model/device.ts";
import { type LocationRecord, withTotals } from "../model/location.ts";
import { alertMembers, locationJson, readingJson } from "../model/location-json.ts";
import { alarmsIn } from "../model/observation.ts";
import type { SaidRecord } from "../model/said.ts";
import type { AlertStore } from "../ports/alert-store.ts";
import type { Histories, HistoryChunk, HistoryRange } from "../ports/history.ts";
import type { PositionPlace, PositionStore } from "../ports/positions.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Turns } from "../shares/turns.ts";
import { type FoldSources, foldStart, RunningFold } from "./fold-start.ts";
import { toldAt } from "./told-at.ts";

/** Records that are read, folded and written between two turns of the event loop: some milliseconds. */
const stepRecords = 500;
/** How many requests may be under way is bounded by the API, for each account and in all. */
const unbounded = { waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY };

/** What histories are made of. */
export interface HistorySources extends FoldSources {
  readonly positions: Pick<PositionStore, "read">;
  readonly alerts: Pick<AlertStore, "list">;
}

/** A record with its place. */
interface Placed {
  readonly record: LocationRecord;
  readonly place: PositionPlace;
}

/** What is asked of a device's records. */
interface Ask {
  readonly from: number;
  readonly to: number;
  readonly after?: PositionPlace;
  /** The device's account. */
  readonly account: number;
}

/** Histories over stored positions: each is folded from the beginning of its day, with the alerts of its time. */
export class FoldedHistories implements Histories {
  readonly #sources: HistorySources;
  readonly #turns = new Turns(unbounded);

  constructor(sources: HistorySources) {
    this.#sources = sources;
  }

  async *history(device: DeviceKey, range: HistoryRange): AsyncGenerator<HistoryChunk, void, undefined> {
    const { limit, odometerStart, readings = false } = range;
    let left = limit;
    for await (const step of this.#steps(device, range)) {
      const shown = readings ? step : step.filter(({ record }) => isShown(record));
      const some = shown.slice(0, left);
      const last = some.at(-1);
      if (last === undefined) continue;
      const json = some.map(({ record }) => (readings ? readingJson(record) : locationJson(record, odometerStart)));
      yield { json: Buffer.from(json.join(",")), count: some.length, last: last.place };
      left -= some.length;
      if (left <= 0) return;
    }
  }

  async *records(
    device: DeviceKey,
    range: { readonly from: number; readonly to: number },
  ): AsyncGenerator<readonly LocationRecord[], void, undefined> {
    for await (const step of this.#steps(device, { ...range, account: 0 })) yield step.map(({ record }) => record);
  }

  async lastBefore(device: DeviceKey, time: number): Promise<LocationRecord | undefined> {
    const start = await foldStart(device, time, this.#sources);
    // Where nothing follows in its day, the record that the fold begins behind is the last one.
    const from = start.time === undefined ? start.from : Math.min(start.time, start.from);
    let last: LocationRecord | undefined;
    for await (const step of this.#steps(device, { from, to: time, account: 0 })) last = step.at(-1)?.record ?? last;
    return last;
  }

  /** Steps of a history, records without a place included. Accounts take turns at each. */
  async *#steps(device: DeviceKey, ask: Ask): AsyncGenerator<readonly Placed[], void, undefined> {
    const { account, after, to } = ask;
    const from = after?.time ?? ask.from;
    const walk = new Walk(this.#sources, device, { from, to });
    for (;;) {
      const step = await this.#turns.always(account, () => walk.next());
      if (step === undefined) return;
      const wanted = after === undefined ? step : step.filter(({ place }) => isBehind(place, after));
      if (wanted.length > 0) yield wanted;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

/** Reads a device's records in their order, and folds them. */
class Walk {
  readonly #sources: HistorySources;
  readonly #device: DeviceKey;
  readonly #range: { readonly from: number; readonly to: number };
  #fold: RunningFold | undefined;
  #begin = 0;
  /** Where the next page goes on; undefined: there is none. */
  #next: PositionPlace | "first" | undefined = "first";
  /** The last record of a page: whether it is the last of its moment, only the next page tells. */
  #held: { readonly said: SaidRecord; readonly nth: number } | undefined;

  constructor(sources: HistorySources, device: DeviceKey, range: { readonly from: number; readonly to: number }) {
    this.#sources = sources;
    this.#device = device;
    this.#range = range;
  }

  /** The next records of the range. Undefined: there are no more. */
  async next(): Promise<readonly Placed[] | undefined> {
    if (this.#next === undefined) return undefined;
    const fold = this.#fold ?? (await this.#start());
    const { from, to } = this.#range;
    const after = this.#next === "first" ? undefined : this.#next;
    // One more at first: the last one is held back.
    const limit = after === undefined ? stepRecords + 1 : stepRecords;
    const page = await this.#sources.positions.read(this.#device, {
      ...{ from: this.#begin, to, limit },
      ...(after && { after }),
    });
    const [damage] = page.unreadable;
    if (damage !== undefined) throw new StoreUnavailable(damage.what, undefined, "damaged");
    this.#next = page.next;
    const ready = this.#ready(page.records);
    const wanted = ready.filter(({ said }) => said.time >= from);
    const first = wanted[0]?.said.time;
    const last = wanted.at(-1)?.said.time;
    const told =
      first === undefined || last === undefined
        ? undefined
        : await toldAt(this.#sources.alerts, this.#device, first, last);
    const placed: Placed[] = [];
    for (const { said, nth, isLast } of ready) {
      const totals = fold.add(said);
      if (said.time < from) continue;
      const found = isLast ? told?.get(said.time) : undefined;
      const alerts = alertMembers(alarmsIn(said.extras), found);
      const record = withTotals({ ...said, totals, ...(alerts !== undefined && { alerts }) }, totals);
      placed.push({ record, place: { time: said.time, nth } });
    }
    return placed;
  }

  async #start(): Promise<RunningFold> {
    const start = await foldStart(this.#device, this.#range.from, this.#sources);
    this.#fold = new RunningFold(start);
    this.#begin = start.from;
    return this.#fold;
  }

  /** Records of which it is known whether they are the last of their moment. */
  #ready(records: readonly SaidRecord[]) {
    const ready: { readonly said: SaidRecord; readonly nth: number; readonly isLast: boolean }[] = [];
    for (const said of records) {
      const held = this.#held;
      if (held !== undefined) ready.push({ ...held, isLast: held.said.time !== said.time });
      this.#held = { said, nth: held?.said.time === said.time ? held.nth + 1 : 1 };
    }
    if (this.#next === undefined && this.#held !== undefined) ready.push({ ...this.#held, isLast: true });
    return ready;
  }
}

function isBehind(place: PositionPlace, after: PositionPlace): boolean {
  return place.time > after.time || (place.time === after.time && place.nth > after.nth);
}

/** Whether it is a location: a record without a position before the first one ever is none. */
function isShown({ unlocated, positionTime }: LocationRecord): boolean {
  return !unlocated || positionTime !== undefined;
}
