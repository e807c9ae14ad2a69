import type { ExportFormat, ExportQuery } from "../../contract/export.ts";
import { formatInstant } from "../../contract/time.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import { dayIn } from "../../model/account-day.ts";
import type { Device } from "../../model/device.ts";
import type { History, HistoryPieces, RecordForm } from "../history.ts";
import { locationsIn } from "../history-locations.ts";
import { momentsOf } from "../range.ts";
import { isTimeZone } from "../time-zones.ts";
import { csvWriter } from "./csv.ts";
import { geojsonWriter } from "./geojson.ts";
import { gpxWriter } from "./gpx.ts";
import { kmlWriter } from "./kml.ts";
import type { ExportTerms, ExportWriter } from "./writer.ts";

/** Locations that are written at a time: a millisecond or two, in which nothing else is done. */
const batchSize = 256;

const writers: { readonly [format in ExportFormat]: (terms: ExportTerms) => ExportWriter } = {
  csv: csvWriter,
  gpx: gpxWriter,
  kml: kmlWriter,
  geojson: geojsonWriter,
};

/** What is asked for, checked. */
export interface AskedExport extends ExportTerms {
  readonly format: ExportFormat;
  /** Of letters, digits and signs that every file system takes. */
  readonly fileName: string;
}

/** Files of devices' histories. */
export interface Exports {
  /** @throws ApiError `badRequest` (times, time zone) */
  ask(user: User, device: Device, query: ExportQuery): AskedExport;
  /**
   * The file, piece by piece. Its locations count to the device's daily results; where these end it, the file says so.
   * @throws ApiError `dailyResults`
   */
  open(device: Device, asked: AskedExport): Promise<{ readonly head: string; readonly rest: HistoryPieces }>;
}

/** Exports over histories. `gapSeconds`: a silence that parts two tracks. */
export function createExports(history: Pick<History, "written">, gapSeconds: number): Exports {
  return {
    ask(user, device, { format, units = "metric", timeZone = user.timeZone, ...query }) {
      const range = momentsOf(query, "querystring");
      if (!isTimeZone(timeZone))
        throw new ApiError("badRequest", ["querystring/timeZone: must be an IANA time zone, Region/City"]);
      const days = [...new Set([range.from, range.to].map((time) => dayIn(timeZone, time)))];
      const fileName = `${[device.id.replaceAll(/[^\w.-]/g, "-"), ...days].join("_")}.${format}`;
      const { id, name } = device;
      return { ...range, format, units, timeZone, fileName, device: { id, name }, gapMs: gapSeconds * 1000 };
    },
    async open(device, asked) {
      const writer = writers[asked.format](asked);
      return { head: writer.begin(), rest: await history.written(device, asked, formOf(writer)) };
    },
  };
}

/** A writer as the form of a history. */
function formOf(writer: ExportWriter): RecordForm {
  return {
    *records(json) {
      const locations = locationsIn(json);
      for (let index = 0; index < locations.length; index += batchSize)
        yield utf8.encode(writer.locations(locations.slice(index, index + batchSize)));
    },
    end: (last) => writer.end(last && { from: formatInstant(last.time) }),
  };
}

const utf8 = new TextEncoder();
