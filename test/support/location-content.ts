import { distanceKm } from "../../src/geo/distance.ts";
import type { Fix } from "../../src/model/effects.ts";
import { accessories } from "../../src/model/readings.ts";

/*
 * What the API must say of a stored fix, written down a second time and from the specification and decisions 0003 and
 * 0013, so that a test does not ask the code under test what is right.
 */

/** A Location as the API gives it. */
export interface Location {
  readonly dateTime: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly milleage: number;
  readonly inactiveSeconds: number;
  readonly speed?: number;
  readonly course?: number;
  readonly inputs?: readonly boolean[];
  readonly attributes: Readonly<Record<string, string>>;
}

/** A Location without what depends on the records before it and on the way it came. */
export type Content = Omit<Location, "milleage" | "inactiveSeconds">;

const integers: ReadonlySet<string> = new Set(["battery", "fuel", "fuel2", "rpm"]);
const decimals: ReadonlySet<string> = new Set(["temperature", "temperature2"]);

const rounded = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits;

/** Parts of the vehicle: type, status while the reading is true and while it is false. */
const states: ReadonlyMap<string, readonly [type: string, yes: string, no: string]> = new Map(
  [...accessories].map(([name, { type, yes, no }]) => [name, [type, yes, no]]),
);

function accessoryOf(name: string, state: boolean) {
  const [accessoryType = "", yes = "", no = ""] = states.get(name) ?? [];
  return { accessoryType, accessoryStatus: state ? yes : no };
}

/** What is to be stored of a fix. */
export function contentOf(fix: Fix): Content {
  const fields: Record<string, number> = {};
  const attributes: Record<string, string> = {};
  const inputs: boolean[] = [];
  const accessoriesAttributes: { accessoryType: string; accessoryStatus: string }[] = [];
  for (const [name, value] of Object.entries(fix.readings)) {
    const input = /^input([1-8])$/.exec(name);
    if (input) inputs[Number(input[1]) - 1] = value === true;
    else if (states.has(name)) accessoriesAttributes.push(accessoryOf(name, value === true));
    else if (integers.has(name)) {
      fields[name] = Math.round(Number(value));
      if (fields[name] !== value) attributes[name] = String(value);
    } else if (decimals.has(name)) fields[name] = Number(value);
    else attributes[name] = String(value);
  }
  for (const [name, value] of Object.entries(fix.attributes)) attributes[name] = String(value);
  if (fix.altitude !== undefined) attributes.altitude = String(fix.altitude);
  if (!fix.valid) attributes.valid = "false";
  return {
    dateTime: new Date(fix.time).toISOString(),
    latitude: rounded(fix.latitude, 7),
    longitude: rounded(fix.longitude, 7),
    ...(fix.speed !== undefined && { speed: rounded(fix.speed, 2) }),
    ...(fix.course !== undefined && { course: rounded(fix.course % 360, 2) }),
    ...fields,
    ...(inputs.length > 0 && { inputs: Array.from(inputs, (active) => active === true) }),
    ...(accessoriesAttributes.length > 0 && { accessoriesAttributes }),
    ...{ alerts: [], alertTexts: [], warnings: [], warningTexts: [], hasCriticalAlert: false },
    attributes,
  };
}

/** The content of a Location of the API, and when it came. */
export function withoutTotals(location: Location): { readonly content: Content; readonly receivedAt: string } {
  const { milleage: _, inactiveSeconds: __, attributes, ...rest } = location;
  const { receivedAt = "", ...others } = attributes;
  const content = Object.entries({ ...rest, attributes: others }).filter(([name]) => !/^sensorTime[1-4]$/.test(name));
  return { content: Object.fromEntries(content) as unknown as Content, receivedAt };
}

/** The totals of a Location of the API. */
export function totalsOf(location: Location): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(location).filter(([name]) => /^(milleage|inactiveSeconds|sensorTime[1-4])$/.test(name)),
  );
}

/** The two minutes of the day that a moment lies in: decision 0013 measures a way anew from the first fix of each. */
const partOf = ({ dateTime }: Content) => Math.floor(Date.parse(dateTime) / 120_000);

const millimetresBetween = (one: Content, other: Content) =>
  Math.round(distanceKm(one.latitude, one.longitude, other.latitude, other.longitude) * 1e6);

/** What a way must be longer than to count, mm. */
function leastWay({ speed, attributes }: Content, underway: boolean): number {
  if (speed === 0 || attributes.ignition === "false") return underway ? 20_000 : 50_000;
  if ((speed ?? 0) <= 3) return underway ? 10_000 : 20_000;
  return underway && (speed ?? 0) > 10 ? 0 : 10_000;
}

const kmBetween = (one: Content, other: Content) =>
  distanceKm(one.latitude, one.longitude, other.latitude, other.longitude);

/** Whether a vehicle can come from one fix to the next, by the page on alerts. */
function reaches(from: Content, to: Content): boolean {
  const hours = (Date.parse(to.dateTime) - Date.parse(from.dateTime) + 2000) / 3_600_000;
  const kmh = Math.max(hours > 120 / 3600 ? 250 : 400, 2 * (to.speed ?? 0));
  return kmBetween(from, to) <= 0.3 + kmh * hours;
}

/** Which fixes are credible by the page on alerts, told of one after the other. */
class Credible {
  last: Content | undefined;
  #doubted: Content | undefined;

  /**
   * The fix that the way to this one begins at, which is this one where nobody knows the way; undefined: this one is
   * not credible.
   */
  add(fix: Content): Content | undefined {
    const { latitude, longitude, attributes } = fix;
    if (attributes.valid === "false" || Number(attributes.accuracy ?? 0) > 1000) return undefined;
    if (latitude === 0 && longitude === 0) return undefined;
    const befores = [this.last, this.#doubted].filter((before) => before !== undefined && reaches(before, fix));
    const [from] = befores.toSorted((one, other) => kmBetween(one ?? fix, fix) - kmBetween(other ?? fix, fix));
    this.#doubted = from === undefined && this.last !== undefined ? fix : undefined;
    if (this.#doubted !== undefined) return undefined;
    this.last = fix;
    return from ?? fix;
  }
}

/** Mileage by decision 0013, told of one credible fix after the other. */
class Mileage {
  millimetres = 0;
  /** The fixes since the mileage last grew or a part began. */
  #way: Content[] = [];
  #underway = false;

  /** `from`: the fix that the way to this one begins at. */
  add(from: Content, fix: Content): void {
    if (from !== this.#way.at(-1)) {
      this.#way = from === fix ? [] : [from];
      this.#underway = false;
    }
    const before = this.#way.at(-1);
    this.#way.push(fix);
    if (before === undefined) return;
    const length = this.#way.reduce(
      (sum, at, index) => sum + (index === 0 ? 0 : millimetresBetween(this.#way[index - 1] ?? at, at)),
      0,
    );
    const chord = millimetresBetween(this.#way[0] ?? fix, fix);
    const noise = length > chord * 1.42;
    const newPart = partOf(before) !== partOf(fix);
    if ((chord > leastWay(fix, this.#underway) && !(noise && chord <= 20_000)) || (newPart && this.#underway)) {
      this.millimetres += noise ? chord : length;
      this.#underway = !newPart;
    } else if (newPart) this.#underway = false;
    else if (length > 0) return;
    this.#way = [fix];
  }
}

/** What the totals of a history must be: a fold from its beginning, in the order of time. */
export function foldedTotals(history: readonly Content[]): readonly Readonly<Record<string, unknown>>[] {
  let [movedAt, before] = [0, 0];
  const mileage = new Mileage();
  const credible = new Credible();
  const sums: number[] = [];
  const active: boolean[] = [];
  return history.map((location, index) => {
    const time = Date.parse(location.dateTime);
    active.forEach((on, input) => {
      if (on) sums[input] = (sums[input] ?? 0) + time - before;
    });
    location.inputs?.slice(0, 4).forEach((on, input) => {
      active[input] = on;
      sums[input] ??= 0;
    });
    const from = credible.add(location);
    if (index === 0 || (from !== undefined && (location.speed ?? 0) > 3)) movedAt = time;
    if (from !== undefined) mileage.add(from, location);
    before = time;
    return {
      milleage: Math.round(mileage.millimetres / 1000) / 1000,
      inactiveSeconds: Math.round((time - movedAt) / 1000),
      ...Object.fromEntries(sums.map((ms, input) => [`sensorTime${input + 1}`, Math.round(ms / 1000)])),
    };
  });
}

/**
 * What `lastLocation` must be: the newest record, at the last credible position where its own is not (decision 0004).
 */
export function expectedLast(history: readonly Location[]): Location | undefined {
  const newest = history.at(-1);
  const credible = new Credible();
  for (const location of history) credible.add(location);
  const valid = history.find((location) => location === credible.last);
  if (newest === undefined || valid === undefined || valid === newest) return newest;
  const { speed: _, course: __, ...rest } = newest;
  const attributes = { ...newest.attributes, positionTime: valid.dateTime };
  return { ...rest, latitude: valid.latitude, longitude: valid.longitude, attributes };
}
