import { type Alarm, alarmNames } from "../model/alarms.ts";
import { isReading, type ReadingName, readingRows } from "../model/readings.ts";
import type { ReadingChanges, StoryPlace } from "./story.ts";
import type { StoryReader } from "./story-fields.ts";

/** What the parts of a story are read with. */
export interface Stage {
  readonly reader: StoryReader;
  /** Named places. */
  readonly places: ReadonlyMap<string, StoryPlace>;
  /** Minutes after midnight; undefined: the story has no time of day. */
  readonly start: number | undefined;
  /** ms */
  readonly length: number;
}

/** The named places of a story. */
export function placesOf(value: unknown, reader: StoryReader): ReadonlyMap<string, StoryPlace> {
  const named = new Map<string, StoryPlace>();
  if (value === undefined) return named;
  for (const [name, each] of Object.entries(reader.object(value, "places") ?? {})) {
    const place = coordinates(each, `places.${name}`, reader);
    if (place !== undefined) named.set(name, place);
  }
  return named;
}

/** A place: the name of one, or coordinates. */
export function readPlace(value: unknown, place: string, { places, reader }: Stage): StoryPlace | undefined {
  if (typeof value !== "string") return coordinates(value, place, reader);
  return places.get(value) ?? reader.wrong(place, `there is no place ${value}`);
}

function coordinates(value: unknown, place: string, reader: StoryReader): StoryPlace | undefined {
  const fields = reader.object(value, place, ["latitude", "longitude", "altitude"]);
  if (fields === undefined) return undefined;
  const latitude = reader.number(fields.latitude, `${place}.latitude`, -89, 89);
  const longitude = reader.number(fields.longitude, `${place}.longitude`, -180, 180);
  const altitude = reader.number(fields.altitude ?? 0, `${place}.altitude`, 0, 9000);
  if (latitude === undefined || longitude === undefined || altitude === undefined) return undefined;
  return { latitude, longitude, altitude };
}

const volts = [0, 60] as const;
const probe = [-55, 115] as const;

/** What every protocol can carry, where that is less than the reading can be. */
const ranges: { readonly [K in ReadingName]?: readonly [low: number, high: number] } = {
  batteryVoltage: volts,
  externalVoltage: volts,
  analog1: volts,
  analog2: volts,
  temperature: probe,
  temperature2: probe,
  temperature3: probe,
  temperature4: probe,
  coolantTemperature: [-50, 250],
  rpm: [0, 16_000],
  vehicleSpeed: [0, 255],
  satellites: [0, 15],
  fuelVolume: [0, 6000],
  fuelUsed: [0, 1_000_000],
  odometer: [0, 4_000_000],
};

/** Readings and what they become. */
export function readReadings(value: unknown, place: string, reader: StoryReader): ReadingChanges {
  let read: ReadingChanges = {};
  for (const [name, each] of Object.entries(reader.object(value, place) ?? {})) {
    const at = `${place}.${name}`;
    if (!isReading(name)) {
      reader.wrong(at, "is no reading; docs/generated/readings.md has the list");
      continue;
    }
    const row = readingRows[name];
    if (each !== null && typeof each !== row.kind) reader.wrong(at, `must be a ${row.kind}, or null`);
    else if (row.kind === "number" && each !== null) {
      const [low, high] = ranges[name] ?? [row.least, row.most];
      const value = reader.number(each, at, low, high);
      if (value !== undefined) read = { ...read, [name]: value };
    } else read = { ...read, [name]: each };
  }
  return read;
}

/** An alarm of the catalogue. */
export function readAlarm(value: unknown, place: string, reader: StoryReader): Alarm | undefined {
  return alarmNames.find((name) => name === value) ?? reader.wrong(place, `must be one of ${alarmNames.join(", ")}`);
}
