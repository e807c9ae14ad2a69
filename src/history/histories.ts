import type { DeviceKey } from "../model/device.ts";
import { type LocationRecord, withTotals } from "../model/location.ts";
import type { Histories, HistoryChunk, HistoryRange } from "../ports/history.ts";
import type { PositionPlace, RenderedPage } from "../ports/positions.ts";
import { StoreUnavailable } from "../ports/store.ts";
import { Turns } from "../shares/turns.ts";
import { foldStart, RunningFold } from "./fold-start.ts";
import { Pages, type PagesSources } from "./pages.ts";

/**
 * Records of one step for programs, and of those that are read together: a block that lies on both sides is read twice.
 */
const stepRecords = 500;
const pageRecords = 4 * stepRecords;
/** How many requests may be under way is bounded by the API, for each account and in all. */
const unbounded = { waiting: Number.POSITIVE_INFINITY, each: Number.POSITIVE_INFINITY };

/** Histories over stored positions: each is folded from a point before it, with the alerts of its time. */
export class FoldedHistories implements Histories {
  readonly #sources: PagesSources;
  readonly #turns = new Turns(unbounded);

  constructor(sources: PagesSources) {
    this.#sources = sources;
  }

  /**
   * The next page is made while the pieces of one are consumed, and no further ahead: a consumer that waits holds two
   * pages. Accounts take turns at each.
   */
  async *history(device: DeviceKey, range: HistoryRange): AsyncGenerator<HistoryChunk, void, undefined> {
    const pages = new Pages(this.#sources, device, range);
    const ask = (spare?: ArrayBuffer): Promise<RenderedPage | undefined> => {
      const page = this.#turns.always(range.account, () => pages.next(spare));
      // Whether it failed is told when its turn comes; a consumer that left early never asks.
      page.catch(() => undefined);
      return page;
    };
    let spare: ArrayBuffer | undefined;
    for (let asked = ask(); ; ) {
      const page = await asked;
      if (page === undefined) return;
      asked = ask(spare);
      for (const piece of page.pieces) {
        yield piece;
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      spare = page.memory;
      if (page.damage !== undefined) throw new StoreUnavailable(page.damage.what, undefined, "damaged");
    }
  }

  async *records(
    device: DeviceKey,
    { from, to }: { readonly from: number; readonly to: number },
  ): AsyncGenerator<readonly LocationRecord[], void, undefined> {
    const start = await foldStart(device, from, this.#sources);
    const fold = new RunningFold(start);
    const read = (after?: PositionPlace) =>
      this.#sources.positions.read(device, { from: start.from, to, limit: pageRecords, ...(after && { after }) });
    for (let reading = read(); ; ) {
      const page = await reading;
      const [damage] = page.unreadable;
      if (damage !== undefined) throw new StoreUnavailable(damage.what, undefined, "damaged");
      if (page.next !== undefined) {
        // The next page is read while this one is folded. Whoever goes away before does not hear of its failure.
        reading = read(page.next);
        reading.catch(() => undefined);
      }
      for (let at = 0; at < page.records.length; at += stepRecords) {
        const records = page.records.slice(at, at + stepRecords).map((said) => {
          const totals = fold.add(said);
          return withTotals({ ...said, totals }, totals);
        });
        yield records.filter(({ time }) => time >= from);
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      if (page.next === undefined) return;
    }
  }

  async lastBefore(device: DeviceKey, time: number): Promise<LocationRecord | undefined> {
    const start = await foldStart(device, time, this.#sources);
    // Where nothing follows in its day, the record that the fold begins behind is the last one.
    const from = start.time === undefined ? start.from : Math.min(start.time, start.from);
    let last: LocationRecord | undefined;
    for await (const step of this.records(device, { from, to: time })) last = step.at(-1) ?? last;
    return last;
  }
}
