import type { DeviceKey } from "../../src/model/device.ts";
import type { UnfollowedSpan } from "../../src/model/follow.ts";
import type { SaidRecord } from "../../src/model/said.ts";
import type {
  DeviceRecords,
  PositionFigures,
  PositionPage,
  PositionRange,
  PositionStore,
  RenderAsk,
  RenderedPage,
  Unfollowed,
  Unreadable,
} from "../../src/ports/positions.ts";
import { renderRead } from "../../src/store/positions/render-read.ts";
import { sortedOnce } from "../contract/positions/said.ts";

/** A `PositionStore` in memory, with small pages. */
export class MemoryPositions implements PositionStore {
  /** What was appended, in the order in which it came. */
  readonly came = new Map<DeviceKey, SaidRecord[]>();
  /** What of all devices is damaged. */
  unreadable: readonly Unreadable[] = [];
  readonly #page: number;
  readonly #from = new Map<DeviceKey, number>();

  constructor(page = 7) {
    this.#page = page;
  }

  async append(batch: readonly DeviceRecords[]): Promise<number> {
    for (const { device, records } of batch) {
      const own = this.came.get(device) ?? [];
      own.push(...records);
      this.came.set(device, own);
    }
    return 0;
  }

  /** Nothing is known to be followed. */
  async *unfollowed(): AsyncGenerator<Unfollowed, void, undefined> {}

  async pending(devices: readonly DeviceKey[]): Promise<readonly undefined[]> {
    return devices.map(() => undefined);
  }

  async left(): Promise<void> {}

  followed(): void {}

  async read(device: DeviceKey, { from, to, after, limit }: PositionRange): Promise<PositionPage> {
    await Promise.resolve();
    const first = Math.max(from, this.#from.get(device) ?? from);
    const isDamaged = ({ time }: SaidRecord) => this.unreadable.some((part) => time >= part.from && time <= part.to);
    const all = sortedOnce(this.came.get(device) ?? []).filter(({ time }) => time >= first && time <= to);
    const next = after === undefined ? 0 : all.findIndex(({ time }) => time === after.time) + after.nth;
    const records = all.slice(next, next + Math.min(limit, this.#page));
    const last = records.at(-1);
    const nth = last && all.filter(({ time }) => time === last.time).indexOf(last) + 1;
    const more = next + records.length < all.length && last !== undefined && nth !== undefined;
    const unreadable = this.unreadable.filter((part) => records.some(isIn(part)));
    return {
      records: records.filter((record) => !isDamaged(record)),
      unreadable,
      ...(more && { next: { time: last.time, nth } }),
    };
  }

  readEach(spans: readonly UnfollowedSpan[], limit: number): Promise<readonly PositionPage[]> {
    return Promise.all(spans.map(({ device, from, to }) => this.read(device, { from, to, limit })));
  }

  render(device: DeviceKey, ask: RenderAsk): Promise<RenderedPage> {
    return renderRead(this, device, ask);
  }

  async deleteBefore(device: DeviceKey, moment: number): Promise<void> {
    this.#from.set(device, Math.max(moment, this.#from.get(device) ?? moment));
  }

  figures(): PositionFigures {
    return { logRows: 0, logBytes: 0, blocks: 0, blockRecords: 0, appended: 0, damaged: 0 };
  }

  async close(): Promise<void> {}
}

function isIn({ from, to }: Unreadable): (record: SaidRecord) => boolean {
  return ({ time }) => time >= from && time <= to;
}
