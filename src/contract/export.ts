import Type, { type Static } from "typebox";
import { GivenText, Instant } from "./schema.ts";

/** Formats of an export, with the media type of each. */
export const exportFormats = {
  csv: "text/csv",
  gpx: "application/gpx+xml",
  kml: "application/vnd.google-earth.kml+xml",
  geojson: "application/geo+json",
} as const;
/** What a file is. */
export type ExportFormat = keyof typeof exportFormats;

function file(beginning: string) {
  return Type.String({ description: "The file.", examples: [beginning] });
}

/** A file of each format, as it begins. */
export const CsvFile = file("time (America/Bogota),dateTime (UTC),latitude,longitude,speed (km/h)");
export const GpxFile = file('<?xml version="1.0" encoding="UTF-8"?><gpx version="1.1" creator="Waybeam">');
export const KmlFile = file('<?xml version="1.0" encoding="UTF-8"?><kml xmlns="http://www.opengis.net/kml/2.2">');
export const GeojsonFile = file('{"type":"FeatureCollection","device":{"id":"490154203237518","name":"Truck 12"}}');

/**
 * Systems of units in which a person reads quantities: `us` has miles, feet, °F and US gallons, `metricGallons` the
 * metric ones and US gallons.
 */
export const unitSystems = ["metric", "us", "metricGallons"] as const;
/** A system of units. */
export type UnitSystem = (typeof unitSystems)[number];

/** Query of GET devices/{id}/export. Query parameters are texts. */
export const ExportQuery = Type.Object({
  format: Type.Unsafe<ExportFormat>({
    type: "string",
    enum: Object.keys(exportFormats),
    description: "What the file is.",
    examples: ["csv"],
  }),
  from: Instant({ description: "Start of the range, inclusive.", examples: ["2026-11-21T00:00:00Z"], maxLength: 64 }),
  to: Instant({
    description: "End of the range, inclusive; not before `from`.",
    examples: ["2026-11-21T23:59:59.999Z"],
    maxLength: 64,
  }),
  timeZone: Type.Optional(
    GivenText({
      maxLength: 64,
      description: "IANA name, whose time the file shows. Absent: the user's.",
      documented: "timeZone",
    }),
  ),
  units: Type.Optional(
    Type.Unsafe<UnitSystem>({
      type: "string",
      enum: [...unitSystems],
      description:
        "Units of the file. `us`: miles, feet, °F, US gallons; `metricGallons`: metric with US gallons. Absent: `metric`.",
    }),
  ),
});
export type ExportQuery = Static<typeof ExportQuery>;
