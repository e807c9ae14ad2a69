import type { Effect } from "../../model/effects.ts";
import { type Draft, draft, fixOf, readingsOrNothing } from "../../wire/report.ts";

/** One record of a packet while its tags are read. */
export interface TagRecord {
  readonly report: Draft;
  imei?: string;
  /** Epoch ms. */
  time?: number;
  valid: boolean;
  /** The coordinates come from cells: what stands for the HDOP is an error in metres. */
  byCells: boolean;
  latitude?: number;
  longitude?: number;
  altitude?: number;
  speed?: number;
  course?: number;
  /** Number of the command that a text answers. */
  command?: number;
  /** What the tracker answers to a command. */
  answer?: string;
}

/** A record of which nothing was read yet. */
export function newRecord(): TagRecord {
  return { report: draft(), valid: false, byCells: false };
}

/** What a record is: a fix; readings where it has no coordinates; a command's result. */
export function effectOf(record: TagRecord): Effect {
  const { time, valid, latitude, longitude, altitude, speed, course, answer, command, report } = record;
  if (answer !== undefined) return { type: "commandResult", text: answer, to: String(command ?? 0) };
  if (latitude === undefined || longitude === undefined) return readingsOrNothing(report, "no data", time);
  return fixOf({ time, valid, latitude, longitude, altitude, speed, course }, report);
}
