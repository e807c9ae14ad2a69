import type { Fix, ReadingsReport } from "../../model/effects.ts";
import { cellsText, wifiText } from "../../wire/radio.ts";
import { type Draft, fixOf, put, readingsOf } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { keep, type Sentence, sendTimeOf, timeOf } from "./sentence.ts";

/** Fields of a position: accuracy, speed, azimuth, altitude, longitude, latitude, UTC. */
const width = 7;
/** A message has at most 15 positions. */
const mostPositions = 15;

/** A position among the fields of a message. */
export interface Place {
  /** Index of its accuracy. */
  readonly start: number;
  /** Index of the first field behind its cell. */
  readonly after: number;
}

/**
 * The positions of a message: longitude and latitude have six decimals, as nothing else has, and a time behind them.
 * One without coordinates stands `before` fields behind the device name. Manuals differ in what stands around a
 * position, not in the position itself.
 */
export function placesOf({ fields, body, end }: Sentence, before: number): readonly Place[] {
  const places: Place[] = [];
  for (let index = body + 4; index + 2 <= end && places.length < mostPositions; index++) {
    if (!isCoordinate(fields[index]) || !isCoordinate(fields[index + 1])) continue;
    places.push({ start: index - 4, after: afterCell(fields, index + 3) });
    index += 6;
  }
  const start = body + before;
  if (places.length === 0 && start + width + 4 <= end) places.push({ start, after: afterCell(fields, start + width) });
  return places;
}

function isCoordinate(text = ""): boolean {
  return text.length > 7 && text.length < 12 && text[text.length - 7] === ".";
}

/** Index behind the access points, where there are any, and the cell. */
function afterCell(fields: readonly string[], at: number): number {
  return at + accessPointFields(fields, at) + 4;
}

/** Number of access points, then five fields of each. */
function accessPointFields(fields: readonly string[], at: number): number {
  if (fields[at + 1]?.length !== 12) return 0;
  const count = numberOf(fields[at]) ?? 0;
  return Number.isInteger(count) && count > 0 && count <= 15 ? 1 + count * 5 : 0;
}

/**
 * Reads a position with what was gathered besides. `valid`: the manual says that the accuracy of 0 is no position, not
 * the last known one.
 */
export function positionOf(sentence: Sentence, place: Place, report: Draft, valid = true): Fix | ReadingsReport {
  const { fields } = sentence;
  const at = place.start;
  const accuracy = numberOf(fields[at]);
  // 0: no fix, and what follows is the last known position.
  if (accuracy === 0) report.attributes.gnssAccuracy = 0;
  else put(report, "hdop", accuracy, "gnssAccuracy");
  readNetwork(sentence, at + width, report);
  const longitude = numberOf(fields[at + 4]);
  const latitude = numberOf(fields[at + 5]);
  if (longitude === undefined || latitude === undefined) return readingsOf(report, sendTimeOf(sentence));
  return fixOf(
    {
      time: timeOf(fields[at + 6]),
      valid: valid || accuracy !== 0,
      latitude,
      longitude,
      altitude: within(numberOf(fields[at + 3]), -100_000, 100_000),
      speed: within(numberOf(fields[at + 1]), 0, 100_000),
      course: numberOf(fields[at + 2]),
    },
    report,
  );
}

/** A number that is one; undefined where no tracker can have measured it. */
export function within(value: number | undefined, least: number, most: number): number | undefined {
  return value !== undefined && value >= least && value <= most ? value : undefined;
}

/** Access points and the serving cell behind a position. */
function readNetwork({ fields, device }: Sentence, at: number, report: Draft): void {
  const points = accessPointFields(fields, at);
  if (points > 0) readAccessPoints(report, fields, at + 1, (points - 1) / 5, 5);
  const from = at + points;
  const mcc = numberOf(fields[from]);
  if (mcc === undefined || mcc === 0) return;
  // The CDMA variant of GL200 gives system, network and base station in decimal digits.
  const code = device === "21" ? decimalOrHex : hexOf;
  const cell = {
    mcc: mcc < 1000 ? mcc : undefined,
    mnc: numberOf(fields[from + 1]),
    lac: code(fields[from + 2]),
    cellId: code(fields[from + 3]),
  };
  keep(report, "cells", cellsText([cell]));
}

function decimalOrHex(text: string | undefined): number | undefined {
  return numberOf(text) ?? hexOf(text);
}

/** `mac,signal` and reserved fields of each access point. */
export function readAccessPoints(
  report: Draft,
  fields: readonly string[],
  from: number,
  count: number,
  step: number,
): void {
  const points = Array.from({ length: count }, (_, index) => ({
    mac: fields[from + index * step] ?? "",
    signal: numberOf(fields[from + index * step + 1]),
  })).filter(({ mac }) => /^[0-9a-f]{12}$/i.test(mac));
  keep(report, "wifi", wifiText(points));
}
