import type { Location } from "../../contract/location.ts";
import { isPlaced } from "../history-locations.ts";
import { LocalTimes } from "./local-times.ts";
import { quantityIn, valuesOf } from "./values.ts";
import { aboutFile, type ExportTerms, type ExportWriter, endsEarly } from "./writer.ts";
import { element, xmlText } from "./xml.ts";

const namespaces = `xmlns="http://www.topografix.com/GPX/1/1"
  xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2" xmlns:waybeam="urn:waybeam:export:1"`;

/**
 * A track by GPX 1.1, in parts where the device was silent. Its own elements have the units that GPX says: UTC, metres,
 * m/s. The extension has all readings, in the units that are asked for. Positions that are not valid are no points of a
 * track: it tells how many were left out.
 */
export function gpxWriter(terms: ExportTerms): ExportWriter {
  const local = new LocalTimes(terms.timeZone);
  let last: number | undefined;
  let points = 0;
  let leftOut = 0;

  function point(location: Location): string {
    if (!isPlaced(location)) {
      leftOut++;
      return "";
    }
    points++;
    const time = Date.parse(location.dateTime);
    const parted = last !== undefined && time - last > terms.gapMs;
    const start = last === undefined ? "<trkseg>\n" : parted ? "</trkseg>\n<trkseg>\n" : "";
    last = time;
    return `${start}${trackPoint(location, time)}\n`;
  }

  function trackPoint(location: Location, time: number): string {
    const { dateTime, latitude, longitude, attributes } = location;
    const [ele, sat, hdop] = [attributes.altitude, attributes.satellites, attributes.hdop].map((text) =>
      text === undefined ? undefined : quantityIn(text),
    );
    return [
      `<trkpt lat="${latitude}" lon="${longitude}">`,
      ele === undefined ? "" : `<ele>${ele}</ele>`,
      element("time", dateTime),
      sat === undefined || sat < 0 || !Number.isInteger(sat) ? "" : `<sat>${sat}</sat>`,
      hdop === undefined ? "" : `<hdop>${hdop}</hdop>`,
      `<extensions>${movement(location)}<waybeam:readings>`,
      element("waybeam:localTime", local.withOffset(time)),
      ...[...valuesOf(location, terms.units)].map(reading),
      "</waybeam:readings></extensions></trkpt>",
    ].join("");
  }

  return {
    begin: () =>
      `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="Waybeam" ${namespaces}>
<metadata>${element("name", terms.device.name)}${element("desc", aboutFile(terms))}</metadata>
<trk>${element("name", terms.device.name)}${element("desc", terms.device.id)}
`,
    locations: (some) => some.map(point).join(""),
    end(early) {
      const counts = `complete="${early === undefined}" points="${points}" leftOutAsNotValid="${leftOut}"`;
      const told = early === undefined ? "" : xmlText(endsEarly(early));
      return `${last === undefined ? "" : "</trkseg>\n"}</trk>
<extensions><waybeam:end ${counts}>${told}</waybeam:end></extensions>
</gpx>
`;
    },
  };
}

/** Speed and course as other programs read them. */
function movement({ speed, course }: Location): string {
  if (speed === undefined && course === undefined) return "";
  const metres = speed === undefined ? "" : `<gpxtpx:speed>${Math.round((speed / 3.6) * 1000) / 1000}</gpxtpx:speed>`;
  const degrees = course === undefined ? "" : `<gpxtpx:course>${course}</gpxtpx:course>`;
  return `<gpxtpx:TrackPointExtension>${metres}${degrees}</gpxtpx:TrackPointExtension>`;
}

function reading({ name, value, unit }: { name: string; value: string | number; unit: string }): string {
  const inUnit = unit === "" ? "" : ` unit="${xmlText(unit)}"`;
  return `<waybeam:reading name="${xmlText(name)}"${inUnit}>${xmlText(String(value))}</waybeam:reading>`;
}
