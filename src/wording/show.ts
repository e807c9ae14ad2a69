import type { Comparable, UnitSystem } from "../model/alert-rule.ts";
import type { Language } from "../model/language.ts";
import { type Quantity, quantities } from "./units.ts";

/** For whom something is written. */
export interface Reader {
  readonly language: Language;
  /** IANA name. */
  readonly timeZone: string;
  readonly units: UnitSystem;
}

/** Writes values for a reader: decimal signs, units, dates. Input is in the units of the API. */
export interface Show {
  /** With its unit: `92 km/h`. */
  measure(quantity: Quantity, value: number): string;
  /** A value with its unit and its limit without: `["92 km/h", "80"]`. They look different where they are. */
  against(quantity: Quantity, value: number, limit: number): readonly [value: string, limit: string];
  number(value: number): string;
  /** A value of an attribute, whatever its kind. */
  value(value: Comparable): string;
  /** A time that passed: `45 s`, `1 min 30 s`, `12 min`, `2 h 5 min`, `3 d 4 h`. */
  duration(minutes: number): string;
  /** Date and time of an epoch ms, in the reader's zone, which is named. */
  moment(time: number): string;
}

/** Locales that give a date no reader takes for another one: the day first, the month as a word, 24 hours. */
const dateLocales: Readonly<Record<Language, string>> = { en: "en-GB", es: "es" };
const numberLocales: Readonly<Record<Language, string>> = { en: "en", es: "es" };

/** In what lasted less, seconds count. */
const shortSeconds = 600;

/** Most decimals that tell a value from its limit. */
const mostDigits = 6;

class ReadersShow implements Show {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  measure(quantity: Quantity, value: number): string {
    const { symbol, digits } = quantities[quantity][this.#reader.units];
    const text = this.#write(this.#converted(quantity, value), digits);
    return symbol === "" ? text : `${text} ${symbol}`;
  }

  against(quantity: Quantity, value: number, limit: number): readonly [string, string] {
    const { symbol, digits } = quantities[quantity][this.#reader.units];
    const [own, other] = [this.#converted(quantity, value), this.#converted(quantity, limit)];
    let decimals: number = digits;
    while (own !== other && decimals < mostDigits && this.#write(own, decimals) === this.#write(other, decimals))
      decimals++;
    const text = this.#write(own, decimals);
    return [symbol === "" ? text : `${text} ${symbol}`, this.#write(other, decimals)];
  }

  number(value: number): string {
    return this.#write(value, quantities.number.metric.digits);
  }

  value(value: Comparable): string {
    return typeof value === "number" ? this.number(value) : String(value);
  }

  duration(minutes: number): string {
    const seconds = Math.round(minutes * 60);
    if (!Number.isFinite(seconds) || seconds < 60) return `${this.#write(Math.max(0, seconds), 0)} s`;
    const whole = Math.round(minutes);
    if (seconds < shortSeconds) return this.#two(Math.floor(seconds / 60), "min", seconds % 60, "s");
    if (whole < 1440) return this.#two(Math.floor(whole / 60), "h", whole % 60, "min");
    return this.#two(Math.floor(whole / 1440), "d", Math.floor(whole / 60) % 24, "h");
  }

  moment(time: number): string {
    const { language, timeZone } = this.#reader;
    // Beyond what a date can be there is nothing to format.
    return Math.abs(time) <= latestMs ? dateFormat(language, timeZone).format(time) : String(time);
  }

  #two(more: number, moreUnit: string, less: number, lessUnit: string): string {
    const parts = [
      ...(more > 0 ? [`${this.#write(more, 0)} ${moreUnit}`] : []),
      ...(less > 0 ? [`${less} ${lessUnit}`] : []),
    ];
    return parts.join(" ");
  }

  #converted(quantity: Quantity, value: number): number {
    const { factor, offset } = quantities[quantity][this.#reader.units];
    return value * factor + offset;
  }

  #write(value: number, digits: number): string {
    return numberFormat(this.#reader.language, digits).format(value);
  }
}

/** The last moment of ECMAScript's time values, ms. */
const latestMs = 8.64e15;

const numberFormats = new Map<string, Intl.NumberFormat>();

function numberFormat(language: Language, digits: number): Intl.NumberFormat {
  return cached(
    numberFormats,
    `${language} ${digits}`,
    () =>
      // A value that rounds to nothing has no sign.
      new Intl.NumberFormat(numberLocales[language], { maximumFractionDigits: digits, signDisplay: "negative" }),
  );
}

const dateFormats = new Map<string, Intl.DateTimeFormat>();

function dateFormat(language: Language, timeZone: string): Intl.DateTimeFormat {
  return cached(dateFormats, `${language} ${timeZone}`, () => newDateFormat(language, timeZone));
}

function newDateFormat(language: Language, timeZone: string): Intl.DateTimeFormat {
  const options = {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  } as const;
  try {
    return new Intl.DateTimeFormat(dateLocales[language], { ...options, timeZone });
  } catch {
    // A zone that this runtime does not know (any longer) must not keep a notice back; the text says that it is UTC.
    return new Intl.DateTimeFormat(dateLocales[language], { ...options, timeZone: "UTC" });
  }
}

const shows = new Map<string, Show>();

/** The writer for a reader. */
export function showFor(reader: Reader): Show {
  const { language, timeZone, units } = reader;
  return cached(shows, `${language} ${units} ${timeZone}`, () => new ReadersShow({ language, timeZone, units }));
}

/**
 * More than the zones of the earth in both languages and systems of units; should somebody invent zones, the memory
 * stays.
 */
const mostCached = 4096;

function cached<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  if (known.size >= mostCached) known.clear();
  known.set(key, made);
  return made;
}
