import type { DeviceKey } from "../model/device.ts";
import { noTotals } from "../model/location.ts";
import type { AlertStore } from "../ports/alert-store.ts";
import type { HistoryRange } from "../ports/history.ts";
import type { FoldedTo, PositionPlace, PositionStore, RenderedPage } from "../ports/positions.ts";
import { type FoldSources, foldStart } from "./fold-start.ts";
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

  /** Undefined: there are no more. */
  async next(): Promise<RenderedPage | undefined> {
    if (this.#isOver) return undefined;
    this.#isOver = true;
    const { from, after, fold } = this.#next ?? (await this.#first());
    const { to, odometerStart, readings = false } = this.#range;
    const told = this.#told;
    if (told !== undefined && (told.through === undefined || from > told.through)) await told.next();
    const through = Math.min(to, told?.through ?? to);
    const page = await this.#sources.positions.render(this.#device, {
      ...{ from, to: through, fold, behind: this.#behind, limit: this.#left, ...(after && { after }) },
      ...{ found: told?.found ?? new Map(), odometerStart: readings ? undefined : odometerStart },
    });
    this.#left -= page.pieces.reduce((sum, { count }) => sum + count, 0);
    if (this.#left > 0 && page.damage === undefined) this.#goOn(page, through);
    return page;
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
