import type { DeviceKey } from "../model/device.ts";
import { noTotals, shiftedTotals, type TotalsSums } from "../model/location.ts";
import type { AlertStore } from "../ports/alert-store.ts";
import type { HistoryRange } from "../ports/history.ts";
import type {
  FoldedTo,
  PositionPlace,
  PositionStore,
  RenderAsk,
  RenderedPage,
  Unreadable,
} from "../ports/positions.ts";
import { type FoldSources, foldStart, startBehind } from "./fold-start.ts";
import { ToldAhead } from "./told-ahead.ts";

/** What histories are made of. */
export interface PagesSources extends FoldSources {
  readonly positions: Pick<PositionStore, "read" | "render">;
  readonly alerts: Pick<AlertStore, "list">;
}

/** Where the next page begins. */
interface Beginning {
  readonly from: number;
  readonly after?: PositionPlace;
  readonly fold: FoldedTo;
}

const nothingFolded: FoldedTo = { time: undefined, totals: noTotals };

/** The pages of one history. */
export class Pages {
  readonly #sources: PagesSources;
  readonly #device: DeviceKey;
  readonly #range: HistoryRange;
  /** Nothing up to this place is shown. */
  readonly #behind: PositionPlace;
  /** Undefined: it is not shown. */
  readonly #told: ToldAhead | undefined;
  #left: number;
  #next: Beginning | undefined;
  #isOver: boolean;

  constructor(sources: PagesSources, device: DeviceKey, range: HistoryRange) {
    const { from, to, after, limit, readings = false } = range;
    this.#sources = sources;
    this.#device = device;
    this.#range = range;
    this.#behind = after !== undefined && after.time >= from ? after : { time: from, nth: 0 };
    if (!readings) this.#told = new ToldAhead(sources.alerts, device, { from: this.#behind.time, to, limit });
    this.#left = limit;
    this.#isOver = limit <= 0;
  }

  /** Undefined: there are no more. `spare`: see `RenderAsk`. */
  async next(spare?: ArrayBuffer): Promise<RenderedPage | undefined> {
    if (this.#isOver) return undefined;
    this.#isOver = true;
    const beginning = this.#next ?? (await this.#first());
    const { to } = this.#range;
    const told = this.#told;
    if (told !== undefined && (told.through === undefined || beginning.from > told.through)) await told.next();
    const through = Math.min(to, told?.through ?? to);
    const page = await this.#render(beginning, {
      ...{ to: through, behind: this.#behind, limit: this.#left },
      ...(spare && { spare }),
    });
    this.#left -= page.pieces.reduce((sum, { count }) => sum + count, 0);
    const { damage } = page;
    if (this.#left > 0 && damage === undefined) this.#goOn(page, through);
    if (damage === undefined || damage.to >= this.#behind.time) return page;
    // Nothing of the damaged part is shown: only the sums of what is depend on it.
    const next = await this.#beginBehind(damage, page.fold);
    if (next === undefined) return page;
    this.#next = next;
    this.#isOver = false;
    return { pieces: [], fold: next.fold, memory: page.memory };
  }

  #render(
    { from, after, fold }: Beginning,
    shown: Pick<RenderAsk, "to" | "behind" | "limit" | "spare">,
  ): Promise<RenderedPage> {
    const { odometerStart, readings = false } = this.#range;
    return this.#sources.positions.render(this.#device, {
      ...{ from, fold, ...(after && { after }), ...shown },
      ...{ found: this.#told?.found ?? new Map(), odometerStart: readings ? undefined : odometerStart },
    });
  }

  /**
   * The fold goes on behind a damaged part with the sums that lead to the next point that is known. `before`: the fold
   * before that part.
   */
  async #beginBehind({ to: end }: Unreadable, before: FoldedTo): Promise<Beginning | undefined> {
    const known = await startBehind(this.#device, end, this.#sources);
    if (known === undefined || known.from <= this.#behind.time) return known && { from: known.from, fold: known };
    const shown = { to: known.from - 1, behind: { time: Number.POSITIVE_INFINITY, nth: 0 }, limit: 1 };
    let fold = before;
    for (let next: Beginning | undefined = { from: end + 1, fold }; next !== undefined; ) {
      const page = await this.#render(next, shown);
      if (page.damage !== undefined) return undefined;
      fold = page.fold;
      next = page.next && { from: page.next.time, after: page.next, fold };
    }
    return {
      from: end + 1,
      fold: { time: before.time, totals: shiftedTotals(before.totals, lackOf(fold.totals, known.totals)) },
    };
  }

  async #first(): Promise<Beginning> {
    if (this.#range.readings) return { from: this.#behind.time, fold: nothingFolded };
    const { time, totals, from } = await foldStart(this.#device, this.#behind.time, this.#sources);
    return { from, fold: { time, totals } };
  }

  #goOn({ next, fold }: RenderedPage, through: number): void {
    if (next !== undefined) this.#next = { from: next.time, after: next, fold };
    // Event times are whole.
    else if (through < this.#range.to) this.#next = { from: through + 1, fold };
    else return;
    this.#isOver = false;
  }
}

/** Sums that one fold has less than another. */
function lackOf(one: TotalsSums, other: TotalsSums): TotalsSums {
  const ms = (input: 0 | 1 | 2 | 3) => other.sensorMs[input] - one.sensorMs[input];
  return { odometerMm: other.odometerMm - one.odometerMm, sensorMs: [ms(0), ms(1), ms(2), ms(3)] };
}
