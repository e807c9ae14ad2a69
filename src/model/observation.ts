import { type Alarm, alarmNames } from "./alarms.ts";
import type { Attributes } from "./effects.ts";
import { readableExtras } from "./location-json.ts";
import { accessories, isReading, type ReadingName, type Readings, readingRows } from "./readings.ts";
import type { SaidRecord } from "./said.ts";

/** A record as rules see it. */
export interface Observation {
  /** Event time, epoch ms. */
  readonly time: number;
  readonly receivedAt: number;
  /** It has a position of its own, valid or not; and one that is valid. */
  readonly located: boolean;
  readonly positioned: boolean;
  /** Meaningful where `located`. */
  readonly latitude: number;
  readonly longitude: number;
  readonly speed?: number | undefined;
  readonly course?: number | undefined;
  /** m */
  readonly altitude: number | undefined;
  readonly alarms: readonly Alarm[];
  readonly readings: Readings;
  readonly attributes: Attributes;
}

const alarms: ReadonlySet<string> = new Set(alarmNames);

/** Attributes that the service itself writes, and what of a fix stands among them. */
const ownAttributes: ReadonlySet<string> = new Set(["altitude", "valid", "alarms", "positionTime", "receivedAt"]);
const renamed = "reported.";

function isAlarm(name: string): name is Alarm {
  return alarms.has(name);
}

/** The tracker's own alarms in the extras of a record. They stand there as literal JSON: see `extrasOf`. */
export function alarmsIn(extras: string): readonly Alarm[] {
  const list = /"alarms":"([^"]*)"/.exec(extras)?.[1];
  return list === undefined ? [] : list.split(",").filter(isAlarm);
}

/**
 * A stored record as rules saw the report that it was made of. Inputs below the highest reported one are there and off,
 * and values of attributes are text; readings are typed again. Of what the API rounds to whole numbers (battery, fuel,
 * rpm), the exact value stands among the attributes.
 */
export function observationOf(record: SaidRecord): Observation {
  const { readings, attributes, altitude, alarmList } = parse(record.extras);
  return { ...unparsedObservationOf(record), altitude, alarms: alarmList, readings, attributes };
}

const noReadings: Readings = Object.freeze({});
const noAttributes: Observation["attributes"] = Object.freeze({});

/** The same as `observationOf`, for judging: what its extras hold is parsed when a rule looks at it. */
export class StoredObservation implements Observation {
  readonly time: number;
  readonly receivedAt: number;
  readonly located: boolean;
  readonly positioned: boolean;
  readonly latitude: number;
  readonly longitude: number;
  readonly speed: number | undefined;
  readonly course: number | undefined;
  readonly #extras: string;
  #parsed: Parsed | undefined;

  constructor({ time, receivedAt, valid, unlocated, latitude, longitude, speed, course, extras }: SaidRecord) {
    this.time = time;
    this.receivedAt = receivedAt;
    this.located = !unlocated;
    this.positioned = !unlocated && valid;
    this.latitude = latitude;
    this.longitude = longitude;
    this.speed = speed;
    this.course = course;
    this.#extras = extras;
  }

  get #parts(): Parsed {
    this.#parsed ??= parse(this.#extras);
    return this.#parsed;
  }

  get altitude(): number | undefined {
    return this.#parts.altitude;
  }

  get alarms(): readonly Alarm[] {
    return this.#parsed === undefined ? alarmsIn(this.#extras) : this.#parsed.alarmList;
  }

  get readings(): Readings {
    return this.#parts.readings;
  }

  get attributes(): Attributes {
    return this.#parts.attributes;
  }
}

/** The same without what only rules look at. */
export function unparsedObservationOf(record: SaidRecord): Observation {
  const { speed, course } = record;
  const located = !record.unlocated;
  return {
    time: record.time,
    receivedAt: record.receivedAt,
    located,
    positioned: located && record.valid,
    latitude: record.latitude,
    longitude: record.longitude,
    ...(speed !== undefined && { speed }),
    ...(course !== undefined && { course }),
    altitude: undefined,
    alarms: [],
    readings: noReadings,
    attributes: noAttributes,
  };
}

/** What extras hold. */
interface Parsed {
  readonly readings: Readings;
  readonly attributes: Readonly<Record<string, string>>;
  readonly altitude: number | undefined;
  readonly alarmList: readonly Alarm[];
}

function parse(extras: string): Parsed {
  const fields: unknown = JSON.parse(`{${readableExtras(extras).slice(1)}}}`);
  const readings: Record<string, number | boolean | string> = {};
  const attributes: Record<string, string> = {};
  let own: Readonly<Record<string, string>> = {};
  if (typeof fields === "object" && fields !== null)
    for (const [name, value] of Object.entries(fields)) {
      if (name === "inputs" || name === "outputs") flagsInto(readings, name, value);
      else if (name === "accessoriesAttributes") accessoriesInto(readings, value);
      else if (name === "attributes") own = attributesInto(readings, attributes, value);
      else if (isReading(name) && typeof value === "number") readings[name] = value;
    }
  return {
    readings,
    attributes,
    altitude: own.altitude === undefined ? undefined : Number(own.altitude),
    alarmList: own.alarms?.split(",").filter(isAlarm) ?? [],
  };
}

function flagsInto(
  readings: Record<string, number | boolean | string>,
  name: "inputs" | "outputs",
  value: unknown,
): void {
  if (!Array.isArray(value)) return;
  value.forEach((state, index) => {
    readings[`${name.slice(0, -1)}${index + 1}`] = state === true;
  });
}

const byType = new Map([...accessories].map(([name, accessory]) => [accessory.type, { name, yes: accessory.yes }]));

function accessoriesInto(readings: Record<string, number | boolean | string>, value: unknown): void {
  for (const { accessoryType, accessoryStatus } of Array.isArray(value) ? value : []) {
    const part = byType.get(accessoryType);
    if (part !== undefined) readings[part.name] = accessoryStatus === part.yes;
  }
}

/** Sorts attributes into the tracker's, readings, and the service's own, which it answers. */
function attributesInto(
  readings: Record<string, number | boolean | string>,
  attributes: Record<string, string>,
  value: unknown,
): Readonly<Record<string, string>> {
  const own: Record<string, string> = {};
  if (typeof value !== "object" || value === null) return own;
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== "string") continue;
    if (ownAttributes.has(name)) own[name] = text;
    else if (isReading(name)) readings[name] = typed(name, text);
    else {
      const original = name.startsWith(renamed) ? name.slice(renamed.length) : name;
      Object.defineProperty(attributes, original, {
        value: text,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
  return own;
}

function typed(name: ReadingName, text: string): number | boolean | string {
  const kind = readingRows[name].kind;
  if (kind === "number") return Number(text);
  return kind === "boolean" ? text === "true" : text;
}
