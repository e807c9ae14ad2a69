import Type from "typebox";
import type { ReadingRow } from "../model/reading-rows.ts";
import { accessories, locationFields, readingNames, readingRows } from "../model/readings.ts";

/** Readings that are given elsewhere: as fields, in the lists of inputs and outputs, as accessories. */
function isElsewhere(name: (typeof readingNames)[number]): boolean {
  return Object.hasOwn(locationFields, name) || /^(input|output)\d+$/.test(name) || accessories.has(name);
}

function meaningOf({ label, ...row }: ReadingRow): string {
  if (row.kind === "boolean") return `${label.en}: true or false.`;
  return row.kind === "number" && row.unit !== "" ? `${label.en}, ${row.unit}.` : `${label.en}.`;
}

const attribute = (description: string) => ({ type: "string", description });

/** What a location or reading says beside its fields, as texts by name: the catalogue's readings, then all else. */
export const Attributes = Type.Unsafe<Readonly<Record<string, string>>>({
  $id: "Attributes",
  type: "object",
  description: "What else was reported. Names that are not listed here are those of the tracker's manual.",
  properties: {
    positionTime: attribute("When a repeated position was taken."),
    receivedAt: attribute("When it came, where it came late."),
    valid: attribute("`false`: no GPS fix."),
    alarms: attribute("Alarms of the tracker itself."),
    altitude: attribute("Altitude, m."),
    ...Object.fromEntries(
      readingNames.filter((name) => !isElsewhere(name)).map((name) => [name, attribute(meaningOf(readingRows[name]))]),
    ),
  },
  additionalProperties: { type: "string" },
});
