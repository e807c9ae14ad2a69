import fc from "fast-check";
import { stepOf } from "../../src/fold/step.ts";
import { DeviceFold } from "../../src/follow/device-fold.ts";
import { type RefoldReads, refoldTurn } from "../../src/follow/refold-turn.ts";
import { observationOf } from "../../src/model/observation.ts";
import { keyOf, type SaidRecord } from "../../src/model/said.ts";
import type { FreshRecord } from "../../src/ports/follow.ts";
import type { PositionPage, PositionPlace } from "../../src/ports/positions.ts";
import { sortedOnce, start } from "../contract/positions/said.ts";
import { MemoryFollow } from "./follow-memory.ts";

/** Few, so that short histories have points. */
export const spacing = 5;
export const device = 7;

/** All that a device said, as it came. */
export class Said {
  readonly came: SaidRecord[] = [];
  /** Called before each page is read, and after it was. */
  during: () => void = () => undefined;

  readonly read = async (from: number, to: number, after: PositionPlace | undefined): Promise<PositionPage> => {
    this.during();
    const all = sortedOnce(this.came).filter(({ time }) => time >= from && time <= to);
    const next = after === undefined ? 0 : all.findIndex(({ time }) => time === after.time) + after.nth;
    const records = all.slice(next, next + 7);
    const last = records.at(-1);
    const nth = last && all.filter(({ time }) => time === last.time).indexOf(last) + 1;
    const more = next + 7 < all.length && last !== undefined && nth !== undefined;
    await Promise.resolve();
    this.during();
    return { records, unreadable: [], ...(more && { next: { time: last.time, nth } }) };
  };
}

const day = 86_400_000;

/** A drive with stops, jumps that nobody makes, records without a position, inputs, and hours or days of silence. */
export const history = fc
  .array(
    fc.record({
      elapsed: fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(0, 0, 1000, 60_000) },
        { weight: 2, arbitrary: fc.constantFrom(3_600_000, 0.4 * day, day, 3 * day) },
      ),
      north: fc.oneof({ weight: 15, arbitrary: fc.nat(400) }, { weight: 1, arbitrary: fc.nat(5_000_000) }),
      kind: fc.oneof(fc.nat(9), fc.constant(9)),
      speed: fc.constantFrom(undefined, 0, 2, 50),
      extras: fc.constantFrom(
        ',"attributes":{',
        ',"inputs":[true,false],"attributes":{',
        ',"inputs":[false,true,true,true],"attributes":{"ignition":"false"',
        ',"attributes":{"accuracy":"1500"',
      ),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((moves) => {
    let [time, latitude] = [start, 48];
    return moves.map(({ elapsed, north, kind, speed, extras }): SaidRecord => {
      time += elapsed;
      latitude = north > 1000 ? 48 : Math.round((latitude + north / 1e6) * 1e7) / 1e7;
      const place = { latitude: north > 1000 ? 48 + north / 1e6 : latitude, longitude: 11 };
      const fix = { valid: kind > 0, ...place, ...(speed !== undefined && { speed }) };
      const record = {
        time,
        receivedAt: time,
        extras,
        ...(kind === 9 ? { valid: false, unlocated: true as const, latitude: 0, longitude: 0 } : fix),
      };
      return { ...record, key: keyOf(record) };
    });
  });

/** In which order a history comes and what happens meanwhile. */
export const acts = fc.array(
  fc.record({
    take: fc.integer({ min: 1, max: 15 }),
    from: fc.constantFrom("first", "last", "middle", "again"),
    next: fc.constantFrom("nothing", "nothing", "catchUp", "save", "crash"),
  }),
  { minLength: 1, maxLength: 40 },
);

/** A device that is followed, with the store behind it. */
export class Followed {
  readonly said = new Said();
  readonly store = new MemoryFollow();
  fold = new DeviceFold(undefined, spacing);
  /** How much had come when the head was committed last. */
  #savedAt = 0;

  append(part: readonly SaidRecord[]): void {
    this.said.came.push(...part);
    this.fold.take(part.map(fresh), () => undefined);
  }

  async save(): Promise<void> {
    const { head, days } = this.fold;
    const came = this.said.came.length;
    await this.store.commit([{ device, head, days }]);
    this.fold.committed(days);
    this.#savedAt = came;
  }

  async crash(): Promise<void> {
    const [head] = await this.store.heads([device]);
    this.fold = new DeviceFold(head, spacing);
    const unknown = this.said.came.slice(this.#savedAt).map(({ time }) => time);
    if (unknown.length > 0) this.fold.mark(Math.min(...unknown), Math.max(...unknown));
  }

  async refold(): Promise<void> {
    if (!this.fold.isLate) return;
    await this.save();
    const reads: RefoldReads = {
      days: (ask) => this.store.days(device, ask),
      sumsBefore: (before) => this.store.sumsBefore(device, before),
      records: this.said.read,
      told: async () => [],
      review: () => undefined,
      commit: async () => true,
      monotonic: () => 0,
      now: () => 0,
    };
    try {
      await refoldTurn(this.fold, reads, spacing);
    } finally {
      this.fold.take(this.fold.endRefold(), () => undefined);
    }
  }
}

function fresh(record: SaidRecord): FreshRecord {
  return { ...observationOf(record), ...stepOf(record), ...record, speed: record.speed, course: record.course };
}
