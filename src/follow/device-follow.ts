import type { SaidRecord } from "../model/said.ts";
import type { PositionPage, PositionPlace } from "../ports/positions.ts";
import { DayWalk, usualSpacing } from "./day-walk.ts";
import { type Day, dayOf, nothing } from "./days.ts";
import { Newest, type NewestRecords } from "./newest.ts";
import { type LateSpan, Refold } from "./refold.ts";

/** What follows from a device's records. */
export interface Followed extends NewestRecords {
  /** In their order. */
  readonly days: readonly Day[];
  /** Days with records that are not folded in their places yet, in their order. */
  readonly late: readonly LateSpan[];
}

/** Reads a page of a device's records from an event time on. */
export type ReadFrom = (from: number, after: PositionPlace | undefined) => Promise<PositionPage>;

/** A part of a device's time is damaged, so that nobody knows what follows from it. */
export class HistoryUnreadable extends Error {
  override readonly name = "HistoryUnreadable";
}

/** Follows one device. Newer records are folded as they come, late ones by `catchUp`. In whatever order records come, the same follows from them in the end. */
export class DeviceFollow {
  readonly #days: Map<number, Day>;
  readonly #late: Map<number, LateSpan>;
  readonly #newest: Newest;
  /** What comes while late records are folded. Undefined: none are. */
  #meanwhile: SaidRecord[] | undefined;

  readonly #spacing: number;

  constructor(followed: Followed = { days: [], late: [] }, spacing = usualSpacing) {
    this.#spacing = spacing;
    this.#days = new Map(followed.days.map((day) => [day.day, day]));
    this.#late = new Map(followed.late.map((span) => [span.day, span]));
    this.#newest = new Newest(followed);
  }

  get followed(): Followed {
    return { days: inOrder(this.#days), late: inOrder(this.#late), ...this.#newest.records };
  }

  /** Takes records that were appended, in the order in which they came. */
  appended(records: readonly SaidRecord[]): void {
    if (this.#meanwhile !== undefined) {
      this.#meanwhile.push(...records);
      return;
    }
    let walk: DayWalk | undefined;
    for (const record of records) {
      const standing = this.#newest.standingOf(record);
      if (standing === "late") this.mark(record.time);
      if (standing !== "next") continue;
      walk ??= this.#walkOn();
      walk.add(record);
      this.#newest.add(record);
    }
    for (const day of walk?.days() ?? []) this.#days.set(day.day, day);
  }

  #walkOn(): DayWalk {
    const day = this.#days.get(dayOf(this.#newest.time));
    return day === undefined ? DayWalk.after(nothing, this.#spacing) : DayWalk.within(day, day.end, this.#spacing);
  }

  /** Notes that records of this time may not be folded in their places, such as those that came after what was kept at a crash. */
  mark(time: number): void {
    const day = dayOf(time);
    const { from, to } = this.#late.get(day) ?? { from: time, to: time };
    this.#late.set(day, { day, from: Math.min(from, time), to: Math.max(to, time) });
  }

  /** Folds late records in their places: those of the first late day and of the days that it reaches. Rejects with `HistoryUnreadable`, and where reading fails. */
  async catchUp(read: ReadFrom): Promise<void> {
    const { days, late } = this.followed;
    if (late.length === 0 || this.#meanwhile !== undefined) return;
    const refold = new Refold(days, late, this.#spacing);
    const found = new Newest();
    this.#meanwhile = [];
    try {
      await this.#readInto(refold, found, read);
      for (const day of refold.days()) this.#days.set(day.day, day);
      this.#newest.take(found, !refold.isDone);
      const reached = refold.isDone ? (refold.day ?? 0) : Number.POSITIVE_INFINITY;
      for (const { day } of late) if (day <= reached) this.#late.delete(day);
    } finally {
      const meanwhile = this.#meanwhile;
      this.#meanwhile = undefined;
      this.appended(meanwhile);
    }
  }

  async #readInto(refold: Refold, found: Newest, read: ReadFrom): Promise<void> {
    for (let after: PositionPlace | undefined; ; ) {
      const asked = this.#meanwhile?.length ?? 0;
      const page = await read(refold.from, after);
      const [damage] = page.unreadable;
      if (damage !== undefined) throw new HistoryUnreadable(damage.what);
      for (const record of page.records) {
        refold.add(record);
        if (refold.isDone) return;
        found.add(record);
      }
      if (page.next === undefined) {
        // What had come before this page was asked for is in it, where it does not belong to a page before.
        const before = after?.time ?? refold.from;
        this.#meanwhile = this.#meanwhile?.filter(({ time }, index) => index >= asked || time <= before);
        return;
      }
      after = page.next;
    }
  }
}

function inOrder<T extends { readonly day: number }>(byDay: ReadonlyMap<number, T>): readonly T[] {
  return [...byDay.values()].sort((one, other) => one.day - other.day);
}
