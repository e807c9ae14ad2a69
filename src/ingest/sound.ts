import type { Attributes, Report } from "../model/effects.ts";
import type { ReadingName, Readings } from "../model/readings.ts";
import { isSoundText, soundText } from "../model/text.ts";

/** Bytes of an attribute's name in UTF-8. The longest name of a manual has 40. */
export const longestName = 64;
/**
 * Bytes of a reading's or an attribute's text in UTF-8: the longest that trackers send is a list of cells or a block of
 * a serial device, some 2 KiB as hex.
 */
export const longestText = 4096;
/**
 * Values of one report. A packet of 1,280 bytes, the longest that a tracker of many sensors sends, has room for 400.
 */
export const mostValues = 1000;
/**
 * Bytes of all names and texts of one report. It is written to disk, kept in memory as the last location, and sent with
 * each answer that holds it.
 */
export const mostTextBytes = 32 * 1024;
/** km/h. Nothing that carries a tracker is faster. */
const fastest = 100_000;

/**
 * The report as the rest of the program may rely on it, whatever the decoder did: every number is finite and exact as
 * JSON, every text is well-formed and has an end. What is not so is left out, `dropped` is told how many values those
 * are, and the attribute `unusableValues` tells whoever reads the record. Coordinates and times are left as they are:
 * those that can't be right make the whole report one that is refused.
 */
export function soundReport(report: Report, dropped: (values: number) => void): Report {
  return isSound(report) ? report : mended(report, dropped);
}

/**
 * Names that were found sound. They come from protocols' tables, so they are few; those of a phone app's own parameters
 * must not fill the memory.
 */
const soundNames = new Set<string>();
const mostSoundNames = 4096;

function isSoundName(name: string): boolean {
  if (!isName(name) || !isSoundText(name)) return false;
  if (soundNames.size < mostSoundNames) soundNames.add(name);
  return true;
}

/** The usual report is looked at and not copied. */
function isSound(report: Report): boolean {
  if (report.type === "fix" && !hasSoundMotion(report)) return false;
  let values = 0;
  let bytes = 0;
  for (const name in report.readings) {
    values++;
    const value = report.readings[name as ReadingName];
    if (typeof value === "number") {
      if (!isSoundNumber(value)) return false;
    } else if (typeof value === "string") {
      if (!isShortText(value)) return false;
      bytes += value.length * 3;
    }
  }
  for (const name in report.attributes) {
    values++;
    const value = report.attributes[name];
    if (!soundNames.has(name) && !isSoundName(name)) return false;
    bytes += name.length * 3;
    if (typeof value === "number") {
      if (!isSoundNumber(value)) return false;
    } else if (typeof value === "string") {
      if (!isShortText(value)) return false;
      bytes += value.length * 3;
    }
  }
  return values <= mostValues && bytes <= mostTextBytes;
}

function hasSoundMotion(fix: { readonly speed?: number; readonly course?: number; readonly altitude?: number }) {
  const { speed, course, altitude } = fix;
  return (
    (speed === undefined || isSpeed(speed)) &&
    (course === undefined || isSoundNumber(course)) &&
    (altitude === undefined || isSoundNumber(altitude))
  );
}

/**
 * A number that is finite, that a double holds exactly to the last whole one, and that is no -0, which JSON does not
 * know.
 */
function isSoundNumber(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER && (value !== 0 || Object.is(value, 0));
}

/** A negative speed is none; the draft leaves it out. */
function isSpeed(value: number): boolean {
  return value <= fastest && isSoundNumber(value);
}

/** Whether a text may stay as it is; one that might be too long in UTF-8 is measured. */
function isShortText(text: string): boolean {
  return (text.length * 3 <= longestText || Buffer.byteLength(text) <= longestText) && isSoundText(text);
}

function isName(name: string): boolean {
  return Buffer.byteLength(name) <= longestName;
}

/** A copy with what can be kept. */
class Mending {
  dropped = 0;
  #values = 0;
  #bytes = 0;

  number(value: number, most: number = Number.MAX_SAFE_INTEGER): number | undefined {
    // Adding zero makes a minus zero plain.
    if (Math.abs(value) <= most) return value + 0;
    this.dropped++;
    return undefined;
  }

  value<T extends string | number | boolean>(name: string, value: T): T | string | number | undefined {
    const kept = typeof value === "number" ? this.number(value) : typeof value === "string" ? soundText(value) : value;
    if (kept === undefined) return undefined;
    const length = typeof kept === "string" ? Buffer.byteLength(kept) : 0;
    const bytes = length + Buffer.byteLength(name);
    if (length > longestText || this.#values >= mostValues || this.#bytes + bytes > mostTextBytes) {
      this.dropped++;
      return undefined;
    }
    this.#values++;
    this.#bytes += bytes;
    return kept;
  }
}

function mended(report: Report, dropped: (values: number) => void): Report {
  const mending = new Mending();
  const motion = report.type === "fix" ? mendedMotion(report, mending) : {};
  const readings = mendedReadings(report.readings, mending);
  const own = mendedAttributes(report.attributes, mending);
  const attributes = mending.dropped > 0 ? { ...own, unusableValues: mending.dropped } : own;
  if (mending.dropped > 0) dropped(mending.dropped);
  if (report.type === "readings") return { ...report, readings, attributes };
  const { type, time, valid, latitude, longitude, alarms } = report;
  return { type, time, valid, latitude, longitude, ...motion, alarms, readings, attributes };
}

function mendedMotion(
  { speed, course, altitude }: { readonly speed?: number; readonly course?: number; readonly altitude?: number },
  mending: Mending,
) {
  const sound: { speed?: number; course?: number; altitude?: number } = {};
  const kept = speed === undefined ? undefined : mending.number(speed, fastest);
  if (kept !== undefined) sound.speed = kept;
  const direction = course === undefined ? undefined : mending.number(course);
  if (direction !== undefined) sound.course = direction;
  const height = altitude === undefined ? undefined : mending.number(altitude);
  if (height !== undefined) sound.altitude = height;
  return sound;
}

function mendedReadings(readings: Readings, mending: Mending): Readings {
  const entries = Object.entries(readings).flatMap(([name, value]) => {
    const kept = mending.value(name, value);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  // Each value was kept as it was, or as a text that stands for a text.
  return Object.fromEntries(entries) as Readings;
}

function mendedAttributes(attributes: Attributes, mending: Mending): Attributes {
  const kept = new Map<string, string | number | boolean>();
  for (const [given, value] of Object.entries(attributes)) {
    const name = soundText(given);
    if (!isName(name) || kept.has(name)) {
      mending.dropped++;
      continue;
    }
    const sound = mending.value(name, value);
    if (sound !== undefined) kept.set(name, sound);
  }
  return Object.fromEntries(kept);
}
