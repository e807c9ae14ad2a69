import type { ExportFormat, ExportQuery } from "../../contract/export.ts";
import { formatInstant } from "../../contract/time.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import { dayIn } from "../../model/account-day.ts";
import type { Device } from "../../model/device.ts";
import type { InTurn, Steps } from "../../model/steps.ts";
import type { History, HistoryPieces, RecordForm } from "../history.ts";
import { locationsIn } from "../history-locations.ts";
import { momentsOf } from "../range.ts";
import { isTimeZone } from "../time-zones.ts";
import { csvWriter } from "./csv.ts";
import { geojsonWriter } from "./geojson.ts";
import { gpxWriter } from "./gpx.ts";
import { kmlWriter } from "./kml.ts";
import type { ExportTerms, ExportWriter } from "./writer.ts";

/** Locations that are written in one step: a millisecond or two, in which nothing else is done. */
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
export function createExports(history: Pick<History, "written">, gapSeconds: number, inTurn: InTurn): Exports {
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
      const form = formOf(writer, device.accountKey, inTurn);
      return { head: writer.begin(), rest: await history.written(device, asked, form) };
    },
  };
}

/**
 * A writer as the form of a history of an account. A client that reads fast takes each piece at once, so that without
 * turns nobody else would be served until the end of the file: three exports of one user kept trackers waiting for
 * seconds.
 */
function formOf(writer: ExportWriter, account: number, inTurn: InTurn): RecordForm {
  return {
    async *records(json) {
      const locations = await inTurn(
        account,
        stepOf(() => locationsIn(json)),
      );
      for (let index = 0; index < locations.length; index += batchSize)
        yield await inTurn(
          account,
          stepOf(() => utf8.encode(writer.locations(locations.slice(index, index + batchSize)))),
        );
    },
    end: (last) => writer.end(last && { from: formatInstant(last.time) }),
  };
}

/** Work of one step, that does not begin before its turn has come. */
function* stepOf<T>(work: () => T): Steps<T> {
  yield;
  return work();
}

const utf8 = new TextEncoder();
