import { type AlertSchedule, weekdays } from "../model/alert-rule.ts";

const minutesOfDay = 1440;

/**
 * When a rule is in force, on the clocks of its zone: daylight saving moves it, and a moment that a day does not have
 * begins when its clocks go on. The stretch of the last question is remembered, so the usual question compares two
 * numbers.
 */
export class Schedule {
  readonly #days: ReadonlySet<number>;
  readonly #from: number;
  readonly #to: number;
  readonly #timeZone: string;
  #start = 0;
  #end = 0;
  #inForce = false;

  constructor(schedule: AlertSchedule, accountZone: string) {
    this.#days = new Set(schedule.days.map((day) => weekdays.indexOf(day) + 1));
    this.#from = minutesOf(schedule.from);
    const to = minutesOf(schedule.to);
    this.#to = to > this.#from ? to : to + minutesOfDay;
    this.#timeZone = schedule.timeZone ?? accountZone;
  }

  /** Whether the rule is in force at a moment, epoch ms. A window's first moment belongs to it, its end does not. */
  inForce(time: number): boolean {
    if (time < this.#start || time >= this.#end) this.#look(time);
    return this.#inForce;
  }

  /** The next moment after this one at which that changes; Infinity: never. */
  nextChange(time: number): number {
    if (time < this.#start || time >= this.#end) this.#look(time);
    return this.#end;
  }

  /**
   * Works out the stretch around a moment, from the windows of the days near it; those that touch or overlap are one.
   */
  #look(time: number): void {
    const day = Temporal.Instant.fromEpochMilliseconds(Math.floor(time))
      .toZonedDateTimeISO(this.#timeZone)
      .toPlainDate();
    this.#start = time;
    this.#end = Number.POSITIVE_INFINITY;
    this.#inForce = false;
    // A window can begin the day before and go over midnight; the next one is at most a week ahead. Windows of all days
    // are one without end: a year of it is enough.
    for (let offset = -2; offset <= 370; offset++) {
      const window = this.#windowOf(day.add({ days: offset }));
      if (window === undefined) continue;
      const [start, end] = window;
      if (this.#inForce) {
        if (start > this.#end) return;
        this.#end = Math.max(this.#end, end);
        // Far enough: it is looked again when that moment comes.
        if (offset > 8) return;
      } else if (end <= time) this.#start = end;
      else if (start <= time) {
        this.#inForce = true;
        this.#start = start;
        this.#end = end;
      } else {
        this.#end = start;
        return;
      }
    }
  }

  #windowOf(day: Temporal.PlainDate): readonly [number, number] | undefined {
    if (!this.#days.has(day.dayOfWeek)) return undefined;
    return [this.#moment(day, this.#from), this.#moment(day, this.#to)];
  }

  #moment(day: Temporal.PlainDate, minutes: number): number {
    const date = minutes >= minutesOfDay ? day.add({ days: 1 }) : day;
    const ofDay = minutes % minutesOfDay;
    return date
      .toZonedDateTime({ timeZone: this.#timeZone, plainTime: { hour: Math.floor(ofDay / 60), minute: ofDay % 60 } })
      .toInstant().epochMilliseconds;
  }
}

/**
 * The longest time for which a rule is in force without a break, ms; Infinity: always. Days on which clocks change are
 * left out.
 */
export function longestInForceMs({ days, from, to }: AlertSchedule): number {
  const minutes = (minutesOf(to) - minutesOf(from) + minutesOfDay) % minutesOfDay;
  if (minutes > 0) return minutes * 60_000;
  // Whole days: those in a row are one.
  const named = new Set(days);
  if (named.size === weekdays.length) return Number.POSITIVE_INFINITY;
  const week = weekdays.map((day) => (named.has(day) ? "x" : " ")).join("");
  const longest = Math.max(...(week + week).split(" ").map((row) => row.length));
  return longest * minutesOfDay * 60_000;
}

/** Minutes of `HH:MM`. */
function minutesOf(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
}
