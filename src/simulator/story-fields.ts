import { parseDuration } from "../model/duration.ts";

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads values of a parsed JSON text and keeps every problem, each with its place; a value that is not as it must be is
 * undefined.
 */
export class StoryReader {
  readonly problems: string[] = [];

  /** Names a problem. */
  wrong(place: string, what: string): undefined {
    this.problems.push(`${place}: ${what}`);
    return undefined;
  }

  /** An object, whose fields are among these. */
  object(value: unknown, place: string, known?: readonly string[]): Fields | undefined {
    if (!isFields(value)) return this.wrong(place, "must be an object");
    for (const name of Object.keys(value))
      if (known !== undefined && !known.includes(name))
        this.wrong(`${place}.${name}`, `is not known; known are ${known.join(", ")}`);
    return value;
  }

  /** The items of a list, which has from one to `most`. */
  list(value: unknown, place: string, most: number): readonly unknown[] {
    if (Array.isArray(value) && value.length > 0 && value.length <= most) return value;
    this.wrong(place, `must be a list of 1 to ${most}`);
    return [];
  }

  /** A number in a range. */
  number(value: unknown, place: string, low: number, high: number): number | undefined {
    if (typeof value === "number" && value >= low && value <= high) return value;
    return this.wrong(place, `must be a number from ${low} to ${high}`);
  }

  /** A text that is not empty. */
  text(value: unknown, place: string, longest: number): string | undefined {
    if (typeof value === "string" && value.trim() !== "" && value.length <= longest) return value;
    return this.wrong(place, `must be a text of 1 to ${longest} characters`);
  }

  /** A clock time `HH:MM`, minutes after midnight. */
  clock(value: unknown, place: string): number | undefined {
    const minute = minuteOf(value);
    return minute ?? this.wrong(place, "must be a time of day like 10:00");
  }

  /**
   * A moment, ms after the story's start: `+5m` (`+1h30m`, `+90s`), or a time of day where the story has a `start`
   * (minutes after midnight), which is the first one after it.
   */
  moment(value: unknown, place: string, start: number | undefined): number | undefined {
    const after = typeof value === "string" && value.startsWith("+") ? parseDuration(value.slice(1)) : undefined;
    if (after !== undefined && after % 1000 === 0) return after;
    const minute = minuteOf(value);
    if (minute === undefined)
      return this.wrong(place, "must be a time after the start in whole seconds like +5m, or a time of day like 10:05");
    if (start === undefined) return this.wrong(place, `${value} is a time of day, and the story has no start`);
    return ((minute - start + 1440) % 1440) * 60_000;
  }
}

function minuteOf(value: unknown): number | undefined {
  const [, hour, minute] = (typeof value === "string" && /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value)) || [];
  return hour === undefined ? undefined : Number(hour) * 60 + Number(minute);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
