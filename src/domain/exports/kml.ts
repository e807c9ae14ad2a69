import type { Location } from "../../contract/location.ts";
import { isPlaced } from "../history-locations.ts";
import { LocalTimes } from "./local-times.ts";
import { unitIn, unitOf } from "./units.ts";
import { quantityIn, quantityOf } from "./values.ts";
import { aboutFile, type ExportTerms, type ExportWriter, endsEarly } from "./writer.ts";
import { element, xmlText } from "./xml.ts";

/** What a track has a value of for each of its points. */
const fields = ["speed", "milleage", "battery", "fuel", "temperature"] as const;

/**
 * Tracks by KML 2.2 with Google's extension. In a track all times stand before all places, so each call's locations are
 * a track of their own, which begins at the last place of the one before unless the device was silent between.
 * Positions that are not valid are left out, and told at the end.
 */
export function kmlWriter(terms: ExportTerms): ExportWriter {
  const { units, device, timeZone, gapMs } = terms;
  const local = new LocalTimes(timeZone);
  let before: Location | undefined;
  let leftOut = 0;

  /** Runs of locations without a silence. */
  function runsOf(some: readonly Location[]): Location[][] {
    const runs: Location[][] = [];
    for (const location of some) {
      const near = before !== undefined && Date.parse(location.dateTime) - Date.parse(before.dateTime) <= gapMs;
      const run = near ? runs.at(-1) : undefined;
      if (run !== undefined) run.push(location);
      else runs.push(near && before !== undefined ? [before, location] : [location]);
      before = location;
    }
    return runs;
  }

  function track(run: readonly Location[]): string {
    return [
      "<gx:Track><altitudeMode>clampToGround</altitudeMode>",
      ...run.map(({ dateTime }) => `<when>${local.withOffset(Date.parse(dateTime))}</when>`),
      ...run.map(coordinates),
      '<ExtendedData><SchemaData schemaUrl="#readings">',
      ...fields.map(
        (name) => `<gx:SimpleArrayData name="${name}">${run.map(valuesFor(name)).join("")}</gx:SimpleArrayData>`,
      ),
      "</SchemaData></ExtendedData></gx:Track>\n",
    ].join("");
  }

  function valuesFor(name: (typeof fields)[number]) {
    return (location: Location) => {
      const given = location[name];
      return `<gx:value>${given === undefined ? "" : quantityOf(name, given, units).value}</gx:value>`;
    };
  }

  return {
    begin: () =>
      `<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2">
<Document>${element("name", device.name)}${element("description", `${device.id}: ${aboutFile(terms)}`)}
<Schema id="readings">${fields.map((name) => schemaField(name, unitIn(unitOf(name) ?? "", units))).join("")}</Schema>
<Placemark>${element("name", device.name)}<gx:MultiTrack>
`,
    locations(some) {
      const placed = some.filter(isPlaced);
      leftOut += some.length - placed.length;
      return runsOf(placed).map(track).join("");
    },
    end(early) {
      const notes = [
        ...(leftOut === 0 ? [] : [`${leftOut} positions that are not valid are left out.`]),
        ...(early === undefined ? [] : [endsEarly(early)]),
      ];
      const told = notes.map((note) => `<Placemark>${element("name", note)}</Placemark>\n`);
      return `</gx:MultiTrack></Placemark>\n${told.join("")}</Document>\n</kml>\n`;
    },
  };
}

function coordinates({ latitude, longitude, attributes }: Location): string {
  const altitude = quantityIn(attributes.altitude ?? "");
  return `<gx:coord>${longitude} ${latitude}${altitude === undefined ? "" : ` ${altitude}`}</gx:coord>`;
}

function schemaField(name: string, unit: string): string {
  const title = `<displayName>${xmlText(`${name} (${unit})`)}</displayName>`;
  return `<gx:SimpleArrayField name="${name}" type="float">${title}</gx:SimpleArrayField>`;
}
