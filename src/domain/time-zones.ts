import { unlistedZones } from "./unlisted-zones.ts";

/** Whether a text is an IANA time zone of the form Region/City that the runtime knows, by whichever of its names. */
export function isTimeZone(text: string): boolean {
  if (!text.includes("/")) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

let names: { readonly [zone: string]: string } | undefined;

/**
 * Every zone of the form Region/City that the runtime knows, in the order of their names, with the English name of its
 * standard time: `America/Bogota` is Colombia Standard Time. Made once, for the rules of the year in which it is asked
 * for first: some 0.1 s.
 */
export function timeZoneNames(now: number): { readonly [zone: string]: string } {
  names ??= Object.freeze(namesIn(new Date(now).getUTCFullYear()));
  return names;
}

/** Every name of a zone that `isTimeZone` takes and that a list can have, in their order. */
export function everyTimeZone(): readonly string[] {
  const zones = new Set([...Intl.supportedValuesOf("timeZone"), ...unlistedZones].filter(isTimeZone));
  return [...zones].toSorted();
}

function namesIn(year: number): { readonly [zone: string]: string } {
  const halves = [Date.UTC(year, 0, 15), Date.UTC(year, 6, 15)] as const;
  return Object.fromEntries(everyTimeZone().map((zone) => [zone, standardName(zone, halves)]));
}

/**
 * The name at whichever of two moments half a year apart has the smaller offset: the other one may be in summer time.
 */
function standardName(zone: string, [january, july]: readonly [number, number]): string {
  const standard = offsetOf(zone, january) <= offsetOf(zone, july) ? january : july;
  const parts = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "long" }).formatToParts(standard);
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? zone;
}

function offsetOf(zone: string, time: number): number {
  return Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(zone).offsetNanoseconds;
}
