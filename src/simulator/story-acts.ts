import { type Act, storyLimits } from "./story.ts";
import type { Fields } from "./story-fields.ts";
import { readAlarm, readPlace, readReadings, type Stage } from "./story-values.ts";

type What = Act extends infer A ? (A extends Act ? Omit<A, "at"> : never) : never;

/** Reads what one kind of act has beside its time; undefined where something is wrong, which is then named. */
type ReadAct = (fields: Fields, place: string, stage: Stage) => What | undefined;

/** Longest line that one drive follows. */
const mostPlaces = 1000;
/** km/h: some protocols have one byte for it. */
const fastest = 250;

const kinds: Readonly<Record<Act["do"], { readonly fields: readonly string[]; readonly read: ReadAct }>> = {
  drive: { fields: ["to", "along", "speed"], read: readDrive },
  stay: { fields: [], read: () => ({ do: "stay" }) },
  set: {
    fields: ["readings"],
    read: ({ readings }, place, { reader }) => ({
      do: "set",
      readings: readReadings(readings, `${place}.readings`, reader),
    }),
  },
  alarm: {
    fields: ["alarm", "readings"],
    read: ({ alarm: named, readings = {} }, place, { reader }) => {
      const alarm = readAlarm(named, `${place}.alarm`, reader);
      return alarm && { do: "alarm", alarm, readings: readReadings(readings, `${place}.readings`, reader) };
    },
  },
  silent: {
    fields: ["keeps"],
    read: ({ keeps = true }, place, { reader }) =>
      typeof keeps === "boolean"
        ? { do: "silent", keeps }
        : reader.wrong(`${place}.keeps`, "must be true (it reports later what it kept) or false (that is lost)"),
  },
  online: { fields: [], read: () => ({ do: "online" }) },
};

function readDrive({ to, along, speed }: Fields, place: string, stage: Stage): What | undefined {
  const { reader } = stage;
  const kmh = reader.number(speed, `${place}.speed`, 1, fastest);
  if ((to === undefined) === (along === undefined))
    return reader.wrong(place, "a drive has either `to`, a place, or `along`, a list of places");
  const line =
    to === undefined
      ? reader
          .list(along, `${place}.along`, mostPlaces)
          .map((each, index) => readPlace(each, `${place}.along[${index}]`, stage))
      : [readPlace(to, `${place}.to`, stage)];
  const places = line.filter((each) => each !== undefined);
  if (kmh === undefined || places.length === 0 || places.length < line.length) return undefined;
  return { do: "drive", along: places, speed: kmh };
}

/** The acts of a tracker, which must stand in the order of their times. */
export function readActs(value: unknown, place: string, stage: Stage): readonly Act[] {
  const { reader } = stage;
  const acts: Act[] = [];
  let before = 0;
  for (const [index, each] of reader.list(value, place, storyLimits.acts).entries()) {
    const here = `${place}[${index}]`;
    const fields = reader.object(each, here);
    if (fields === undefined) continue;
    const at = reader.moment(fields.at, `${here}.at`, stage.start);
    if (at !== undefined && at < before) reader.wrong(`${here}.at`, "is before the act ahead of it");
    const late = at !== undefined && at > stage.length;
    if (late) reader.wrong(`${here}.at`, "is after the story's end");
    const what = readWhat(fields, here, stage);
    if (at !== undefined && !late) before = Math.max(before, at);
    if (at !== undefined && what !== undefined) acts.push({ at, ...what });
  }
  return acts;
}

function readWhat(fields: Fields, place: string, stage: Stage): What | undefined {
  const { reader } = stage;
  const name = fields.do;
  const names = Object.keys(kinds);
  if (!isKind(name)) return reader.wrong(`${place}.do`, `must be one of ${names.join(", ")}`);
  reader.object(fields, place, ["at", "do", ...kinds[name].fields]);
  return kinds[name].read(fields, place, stage);
}

function isKind(name: unknown): name is Act["do"] {
  return typeof name === "string" && Object.hasOwn(kinds, name);
}
