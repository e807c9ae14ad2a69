import type { RefusedQuery, RefusedView } from "../contract/device.ts";
import { formatInstant } from "../contract/time.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { Device } from "../model/device.ts";
import type { RefusedStore } from "../ports/refused-store.ts";
import type { ListCursors } from "./list-cursors.ts";

/** Refused reports in one answer where nothing else is asked for: some 300 KB, 4 MB at most. */
const defaultPage = 1000;

/** The report; one whose text is damaged in the database as that text, so that the others can be read. */
function readable(report: string): unknown {
  try {
    return JSON.parse(report);
  } catch {
    return report;
  }
}

/** A page of refused reports, as the API gives it. */
export interface RefusedReports {
  readonly refused: RefusedView[];
  readonly nextCursor?: string;
  readonly dropped?: { readonly reports: number; readonly until: string };
}

/**
 * A device's refused reports, newest first.
 * @throws ApiError `badRequest` (cursor)
 */
export async function listRefused(
  { store, cursors }: { readonly store: RefusedStore; readonly cursors: ListCursors },
  device: Device,
  query: RefusedQuery,
): Promise<RefusedReports> {
  const scope = ["refused", device.key];
  const place = query.cursor === undefined ? undefined : cursors.read(scope, query.cursor);
  const after = place === undefined ? undefined : Number(place);
  if (query.cursor !== undefined && after === undefined)
    throw new ApiError("badRequest", ["query/cursor: must be the nextCursor of an answer for this device"]);
  const { reports, next, dropped } = await store.page(device.key, Number(query.limit ?? defaultPage), after);
  const refused = reports.map(({ time, receivedAt, cause, report }) => ({
    dateTime: formatInstant(time),
    receivedAt: formatInstant(receivedAt),
    cause,
    report: readable(report),
  }));
  return {
    refused,
    ...(next !== undefined && { nextCursor: cursors.write(scope, String(next)) }),
    ...(dropped && { dropped: { reports: dropped.reports, until: formatInstant(dropped.until) } }),
  };
}
