import {
  type Anchor,
  type DeviceState,
  type LocationRecord,
  neverReported,
  noTotals,
  type Totals,
} from "../../model/location.ts";
import { RecordCursor, writeRecord } from "./record-codec.ts";
import type { ByteSink } from "./sink.ts";

/*
 * A device's state as bytes, without its version: u32 flags, f64 time; u32 length of its rules' states and these, where there are any; the totals
 * unless they are those of the last record; the last record; f64 arrival of the newest record, where it is another one; f64 records numbered so far.
 */
const hasLast = 1;
const totalsOfLast = 2;
// 4 is what earlier versions set where a text follows: what was reported before the first position ever. Records of its own hold that now.
const hasRules = 8;
const hasArrival = 16;
/** f64 at the end: how many records were numbered; otherwise none was. */
const hasArrivals = 32;
/** Beside the inputs of totals. */
const hasAnchor = 1 << 16;
const hasUncounted = 1 << 17;
const isUnderway = 1 << 18;

/** Appends a state. Totals that are the last record's very object are not written twice. */
export function writeState(sink: ByteSink, state: DeviceState): void {
  const { last, rules, totals } = state;
  let flags = state.receivedAt === undefined ? 0 : hasArrival;
  if (last !== undefined) flags |= last.totals === totals ? hasLast | totalsOfLast : hasLast;
  if (rules !== undefined) flags |= hasRules;
  if (state.arrivals > 0) flags |= hasArrivals;
  sink.uint32(flags);
  sink.float64(state.time);
  if (rules !== undefined) writeSized(sink, rules);
  if (!(flags & totalsOfLast)) writeTotals(sink, totals);
  if (last !== undefined) writeRecord(sink, last);
  if (state.receivedAt !== undefined) sink.float64(state.receivedAt);
  if (state.arrivals > 0) sink.float64(state.arrivals);
}

function writeSized(sink: ByteSink, text: string): void {
  const start = sink.length + 4;
  sink.uint32(0);
  sink.text(text);
  sink.view.setUint32(start - 4, sink.length - start, true);
}

/** Bytes of totals. */
export function totalsLength({ anchor, uncounted }: Totals): number {
  return 52 + (anchor ? 24 : 0) + (uncounted ? 32 : 0);
}

/** Appends totals. */
export function writeTotals(sink: ByteSink, totals: Totals): void {
  const { anchor, uncounted, underway } = totals;
  const present = (anchor ? hasAnchor : 0) | (uncounted ? hasUncounted : 0) | (underway ? isUnderway : 0);
  sink.uint32(totals.inputsKnown | (totals.inputsActive << 8) | present);
  sink.float64(totals.odometerMm);
  for (const ms of totals.sensorMs) sink.float64(ms);
  sink.float64(totals.movedAt);
  if (anchor !== undefined) writeAnchor(sink, anchor);
  if (uncounted === undefined) return;
  writeAnchor(sink, uncounted.from);
  sink.float64(uncounted.lengthMm);
}

function writeAnchor(sink: ByteSink, { time, latitude, longitude }: Anchor): void {
  sink.float64(time);
  sink.float64(latitude);
  sink.float64(longitude);
}

/** The state in `bytes`; none are the state of a device that never reported. */
export function readState(bytes: Uint8Array, version: number): DeviceState {
  if (bytes.byteLength === 0) return version === 0 ? neverReported : { ...neverReported, version };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint32(0, true);
  const time = view.getFloat64(4, true);
  const cursor = new RecordCursor(bytes);
  let at = 12;
  let rules: string | undefined;
  if (flags & hasRules) {
    const end = at + 4 + view.getUint32(at, true);
    rules = cursor.bytes.toString("utf8", at + 4, end);
    at = end;
  }
  let totals: Totals | undefined;
  if (!(flags & totalsOfLast)) {
    totals = readTotals(view, at);
    at += totalsLength(totals);
  }
  let last: LocationRecord | undefined;
  if (flags & hasLast) {
    cursor.read(at);
    last = cursor.record();
    at = cursor.end;
  }
  return {
    version,
    time,
    arrivals: flags & hasArrivals ? view.getFloat64(bytes.byteLength - 8, true) : 0,
    totals: totals ?? last?.totals ?? noTotals,
    ...(last && { last }),
    ...(flags & hasArrival && { receivedAt: view.getFloat64(at, true) }),
    ...(rules !== undefined && { rules }),
  };
}

/** The totals at an offset. */
export function readTotals(view: DataView, at: number): Totals {
  const inputs = view.getUint32(at, true);
  const double = (index: number) => view.getFloat64(at + 4 + index * 8, true);
  const anchorAt = (index: number) => ({
    time: double(index),
    latitude: double(index + 1),
    longitude: double(index + 2),
  });
  const way = inputs & hasAnchor ? 9 : 6;
  return {
    odometerMm: double(0),
    sensorMs: [double(1), double(2), double(3), double(4)],
    movedAt: double(5),
    inputsKnown: inputs & 0xff,
    inputsActive: (inputs >> 8) & 0xff,
    ...(inputs & hasAnchor && { anchor: anchorAt(6) }),
    ...(inputs & hasUncounted && { uncounted: { from: anchorAt(way), lengthMm: double(way + 3) } }),
    ...(inputs & isUnderway && { underway: true }),
  };
}
