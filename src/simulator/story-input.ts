import type { AnyProtocol } from "../wire/protocol.ts";
import { type Story, type StoryStart, type StoryTracker, storyLimits } from "./story.ts";
import { readActs } from "./story-acts.ts";
import { type Fields, StoryReader } from "./story-fields.ts";
import { placesOf, readPlace, readReadings, type Stage } from "./story-values.ts";

/** A story, or everything that is wrong with it. */
export type ReadStory = { readonly story: Story } | { readonly problems: readonly string[] };

/** Between two reports, s, where the story does not say. */
const usualInterval = 10;
const usualProtocol = "teltonika";
/** Identifiers that trackers of any protocol report: an IMEI has 15 digits. */
const idPattern = /^\d{5,15}$/;

const storyFields = ["title", "about", "start", "timeZone", "end", "interval", "places", "trackers"];
const trackerFields = ["id", "name", "protocol", "place", "interval", "readings", "acts"];

/** Reads a story from a parsed JSON text. `protocols`: those whose trackers can be played. */
export function readStory(value: unknown, protocols: readonly AnyProtocol[]): ReadStory {
  const reader = new StoryReader();
  const fields = reader.object(value, "story", storyFields);
  if (fields === undefined) return { problems: reader.problems };
  const title = reader.text(fields.title, "title", 100);
  if (fields.about !== undefined) reader.text(fields.about, "about", 2000);
  const start = readStart(fields, reader);
  const length = readLength(fields, start, reader);
  const stage: Stage = { reader, places: placesOf(fields.places, reader), start: start?.minute, length };
  const interval = readInterval(fields.interval, "interval", usualInterval * 1000, reader);
  const trackers = reader
    .list(fields.trackers, "trackers", storyLimits.trackers)
    .map((each, index) => readTracker(each, `trackers[${index}]`, interval, protocols, stage))
    .filter((tracker) => tracker !== undefined);
  checkIds(trackers, reader);
  checkSize(trackers, length, reader);
  if (title === undefined || reader.problems.length > 0) return { problems: reader.problems };
  return { story: { title, start, length, trackers } };
}

function readStart({ start, timeZone = "UTC" }: Fields, reader: StoryReader): StoryStart | undefined {
  const zone = reader.text(timeZone, "timeZone", 64);
  const known = zone !== undefined && isZone(zone);
  if (zone !== undefined && !known) reader.wrong("timeZone", `${zone} is no time zone like America/Bogota`);
  if (start === undefined) return undefined;
  const minute = reader.clock(start, "start");
  return minute === undefined || !known ? undefined : { minute, timeZone: zone };
}

function isZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

function readLength({ end }: Fields, start: StoryStart | undefined, reader: StoryReader): number {
  const length = reader.moment(end, "end", start?.minute);
  if (length !== undefined && (length === 0 || length > storyLimits.length))
    reader.wrong("end", "must be after the start, and within a week of it");
  return length ?? Number.POSITIVE_INFINITY;
}

function readInterval(value: unknown, place: string, usual: number, reader: StoryReader): number {
  if (value === undefined) return usual;
  if (Number.isInteger(value)) return (reader.number(value, place, 1, 86_400) ?? 1) * 1000;
  reader.wrong(place, "must be whole seconds from 1 to 86400");
  return usual;
}

function readTracker(
  value: unknown,
  place: string,
  usualEvery: number,
  protocols: readonly AnyProtocol[],
  stage: Stage,
): StoryTracker | undefined {
  const { reader } = stage;
  const fields = reader.object(value, place, trackerFields);
  if (fields === undefined) return undefined;
  const { id, protocol: wanted = usualProtocol } = fields;
  const name = reader.text(fields.name, `${place}.name`, 100);
  if (id !== undefined && !(typeof id === "string" && idPattern.test(id)))
    reader.wrong(`${place}.id`, "must be 5 to 15 digits as a text; leave it out to have one made");
  const protocol = protocols.find((each) => each.id === wanted);
  if (protocol === undefined)
    reader.wrong(`${place}.protocol`, `must be one of ${protocols.map((each) => each.id).join(", ")}`);
  const at = readPlace(fields.place, `${place}.place`, stage);
  const readings = fields.readings === undefined ? {} : readReadings(fields.readings, `${place}.readings`, reader);
  const interval = readInterval(fields.interval, `${place}.interval`, usualEvery, reader);
  const acts = fields.acts === undefined ? [] : readActs(fields.acts, `${place}.acts`, stage);
  if (name === undefined || protocol === undefined || at === undefined) return undefined;
  return { id: typeof id === "string" ? id : undefined, name, protocol, interval, place: at, readings, acts };
}

function checkIds(trackers: readonly StoryTracker[], reader: StoryReader): void {
  const seen = new Set<string>();
  for (const { id } of trackers) {
    if (id !== undefined && seen.has(id)) reader.wrong("trackers", `two have the id ${id}`);
    if (id !== undefined) seen.add(id);
  }
}

function checkSize(trackers: readonly StoryTracker[], length: number, reader: StoryReader): void {
  if (!Number.isFinite(length)) return;
  const reports = trackers.reduce((sum, { interval, acts }) => sum + Math.ceil(length / interval) + acts.length + 1, 0);
  if (reports > storyLimits.reports)
    reader.wrong(
      "story",
      `has ${reports} reports, and ${storyLimits.reports} at most can be played: make intervals longer`,
    );
}
