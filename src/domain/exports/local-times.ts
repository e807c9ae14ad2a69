/**
 * Writes moments as the clocks of a time zone show them. Times mostly come in their order: the offset is looked up once
 * between two changes of it.
 */
export class LocalTimes {
  readonly #timeZone: string;
  #from = Number.POSITIVE_INFINITY;
  #until = Number.NEGATIVE_INFINITY;
  #offsetMs = 0;
  #suffix = "";

  constructor(timeZone: string) {
    this.#timeZone = timeZone;
  }

  /** RFC 3339 with the zone's offset: `2026-11-21T05:29:00.000-05:00`. */
  withOffset(time: number): string {
    return this.#clock(time) + this.#suffix;
  }

  /** As programs that calculate with tables read it: `2026-11-21 05:29:00.000`. */
  plain(time: number): string {
    return this.#clock(time).replace("T", " ");
  }

  #clock(time: number): string {
    if (time < this.#from || time >= this.#until) this.#look(time);
    return new Date(time + this.#offsetMs).toISOString().slice(0, -1);
  }

  #look(time: number): void {
    const zoned = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(this.#timeZone);
    // Before clocks went by zones, offsets had seconds, which RFC 3339 has not.
    const minutes = Math.round(zoned.offsetNanoseconds / 60e9);
    const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    this.#from = time;
    this.#until = zoned.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
    this.#offsetMs = minutes * 60_000;
    this.#suffix = `${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
  }
}
