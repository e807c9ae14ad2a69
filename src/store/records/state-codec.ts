import { crc32 } from "node:zlib";
import {
  type Anchor,
  type DeviceState,
  type LocationRecord,
  neverReported,
  noTotals,
  type Totals,
} from "../../model/location.ts";
import { RecordsDamaged } from "./damage.ts";
import { RecordCursor, writeRecord } from "./record-codec.ts";
import type { ByteSink } from "./sink.ts";

/*
 * A device's state as bytes, without its version: u32 flags, f64 time; u32 length of its rules' states and these, where there are any; the totals
 * unless they are those of the last record; the last record; f64 arrival of the newest record, where it is another one; f64 event time before which records
 * are deleted, where some are; f64 records numbered so far; u32 CRC-32 of all before. All later totals grow out of a state, so a changed bit would be in them
 * for good.
 */
const hasLast = 1;
const totalsOfLast = 2;
// 4 is what earlier versions set where a text follows: what was reported before the first position ever. Records of its own hold that now.
const hasRules = 8;
const hasArrival = 16;
/** f64 behind the others: how many records were numbered; otherwise none was. */
const hasArrivals = 32;
/** The checksum at the end, which earlier versions did not write. Two flags, so that no single changed bit hides it. */
const hasSum = 64 | 128;
const sumBytes = 4;
/** f64 before the number of records: event time before which records are deleted. */
const hasKeptFrom = 256;
/** Beside the inputs of totals. */
const hasAnchor = 1 << 16;
const hasUncounted = 1 << 17;
const isUnderway = 1 << 18;
const hasDoubted = 1 << 19;

/** Appends a state. Totals that are the last record's very object are not written twice. */
export function writeState(sink: ByteSink, state: DeviceState): void {
  const { last, rules, totals } = state;
  const start = sink.length;
  let flags = hasSum;
  if (state.receivedAt !== undefined) flags |= hasArrival;
  if (last !== undefined) flags |= last.totals === totals ? hasLast | totalsOfLast : hasLast;
  if (rules !== undefined) flags |= hasRules;
  if (state.arrivals > 0) flags |= hasArrivals;
  if (state.keptFrom !== undefined) flags |= hasKeptFrom;
  sink.uint32(flags);
  sink.float64(state.time);
  if (rules !== undefined) writeSized(sink, rules);
  if (!(flags & totalsOfLast)) writeTotals(sink, totals);
  if (last !== undefined) writeRecord(sink, last);
  if (state.receivedAt !== undefined) sink.float64(state.receivedAt);
  if (state.keptFrom !== undefined) sink.float64(state.keptFrom);
  if (state.arrivals > 0) sink.float64(state.arrivals);
  sink.uint32(crc32(sink.bytes.subarray(start, sink.length)));
}

function writeSized(sink: ByteSink, text: string): void {
  const start = sink.length + 4;
  sink.uint32(0);
  sink.text(text);
  sink.view.setUint32(start - 4, sink.length - start, true);
}

/** Bytes of totals. */
export function totalsLength({ anchor, doubted, uncounted }: Totals): number {
  return 52 + (anchor ? 24 : 0) + (doubted ? 24 : 0) + (uncounted ? 32 : 0);
}

/** Appends totals. */
export function writeTotals(sink: ByteSink, totals: Totals): void {
  const { anchor, doubted, uncounted, underway } = totals;
  const places = (anchor ? hasAnchor : 0) | (doubted ? hasDoubted : 0);
  const present = places | (uncounted ? hasUncounted : 0) | (underway ? isUnderway : 0);
  sink.uint32(totals.inputsKnown | (totals.inputsActive << 8) | present);
  sink.float64(totals.odometerMm);
  for (const ms of totals.sensorMs) sink.float64(ms);
  sink.float64(totals.movedAt);
  if (anchor !== undefined) writeAnchor(sink, anchor);
  if (doubted !== undefined) writeAnchor(sink, doubted);
  if (uncounted === undefined) return;
  writeAnchor(sink, uncounted.from);
  sink.float64(uncounted.lengthMm);
}

function writeAnchor(sink: ByteSink, { time, latitude, longitude }: Anchor): void {
  sink.float64(time);
  sink.float64(latitude);
  sink.float64(longitude);
}

/** The state in `bytes`. No bytes with version 0 are the state of a device that never reported. Throws `RecordsDamaged` or a `RangeError` if they are damaged. */
export function readState(bytes: Uint8Array, version: number): DeviceState {
  if (bytes.byteLength === 0) {
    if (version === 0) return neverReported;
    // Each state that was written has bytes. A changed bit in the row's header can hide all of them.
    throw new RecordsDamaged("the bytes of a state are missing");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = view.getUint32(0, true);
  const length = wholeLength(bytes, view, flags);
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
  const keptFromAt = flags & hasArrival ? at + 8 : at;
  return {
    version,
    time,
    arrivals: flags & hasArrivals ? view.getFloat64(length - 8, true) : 0,
    totals: totals ?? last?.totals ?? noTotals,
    ...(last && { last }),
    ...(flags & hasArrival && { receivedAt: view.getFloat64(at, true) }),
    ...(rules !== undefined && { rules }),
    ...(flags & hasKeptFrom && { keptFrom: view.getFloat64(keptFromAt, true) }),
  };
}

/** The length of a state without its checksum, which must be right. */
function wholeLength(bytes: Uint8Array, view: DataView, flags: number): number {
  if ((flags & hasSum) === 0) return bytes.byteLength;
  const length = bytes.byteLength - sumBytes;
  if ((flags & hasSum) !== hasSum || view.getUint32(length, true) !== crc32(bytes.subarray(0, length)))
    throw new RecordsDamaged("a state does not match its checksum");
  return length;
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
  const behindAnchor = inputs & hasAnchor ? 9 : 6;
  const way = inputs & hasDoubted ? behindAnchor + 3 : behindAnchor;
  return {
    odometerMm: double(0),
    sensorMs: [double(1), double(2), double(3), double(4)],
    movedAt: double(5),
    inputsKnown: inputs & 0xff,
    inputsActive: (inputs >> 8) & 0xff,
    ...(inputs & hasAnchor && { anchor: anchorAt(6) }),
    ...(inputs & hasDoubted && { doubted: anchorAt(behindAnchor) }),
    ...(inputs & hasUncounted && { uncounted: { from: anchorAt(way), lengthMm: double(way + 3) } }),
    ...(inputs & isUnderway && { underway: true }),
  };
}
