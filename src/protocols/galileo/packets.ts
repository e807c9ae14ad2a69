import type { Effect } from "../../model/effects.ts";
import { Reader } from "../../wire/reader.ts";
import { put } from "../../wire/report.ts";
import { roundDegrees } from "../../wire/units.ts";
import { effectOf, newRecord, type TagRecord } from "./record.ts";
import { readTag } from "./tags.ts";

/** Bytes that are kept of a packet behind a tag that is not known: nobody can say where the next one begins. */
const mostUnread = 256;
/** A minimal data set and the number of its tags. */
const shortestCompressed = 11;
const dayMs = 86_400_000;

/** The records of a data packet, whose tags repeat with the next one. */
export function readRecords(reader: Reader): readonly TagRecord[] {
  const records: TagRecord[] = [];
  const seen = new Set<number>();
  let record = newRecord();
  while (reader.remaining > 0) {
    const tag = reader.u8();
    if (seen.has(tag)) {
      records.push(record);
      record = newRecord();
      seen.clear();
    }
    seen.add(tag);
    if (readTag(tag, record, reader)) continue;
    reader.seek(reader.offset - 1);
    keepUnread(record, reader);
  }
  records.push(record);
  return records;
}

/** Keeps what can't be read any further, as the record's attribute. */
function keepUnread({ report }: TagRecord, reader: Reader): void {
  report.attributes.unread = reader.hex(Math.min(reader.remaining, mostUnread));
  reader.skip(reader.remaining);
}

/** The records of compressed data: each is a minimal data set, a list of tags, and their values in its order. */
export function readCompressed(reader: Reader, receivedAt: number): readonly TagRecord[] {
  const records: TagRecord[] = [];
  while (reader.remaining > 0) {
    const record = newRecord();
    readMinimal(record, reader, receivedAt);
    const tags = reader.take(reader.u8() & 0x7f);
    for (const tag of tags) {
      if (readTag(tag, record, reader)) continue;
      keepUnread(record, reader);
      break;
    }
    records.push(record);
  }
  return records;
}

/**
 * Ten bytes, the highest bit first: 1 reserved, 25 of seconds since the year began, 1 of validity (0: valid), 22 of
 * longitude, 21 of latitude, 1 of alarm, 9 reserved. The year is the last in which the time is not of the future.
 */
function readMinimal(record: TagRecord, reader: Reader, receivedAt: number): void {
  const high = reader.u32();
  const middle = reader.u32();
  const low = reader.u16();
  const seconds = (high >>> 6) & 0x1ffffff;
  record.valid = ((high >>> 5) & 1) === 0;
  const longitude = (high & 0x1f) * 0x20000 + (middle >>> 15);
  const latitude = (middle & 0x7fff) * 64 + (low >>> 10);
  record.longitude = roundDegrees((360 * longitude) / 4_194_304 - 180);
  record.latitude = roundDegrees((180 * latitude) / 2_097_152 - 90);
  if (((low >>> 9) & 1) === 1) {
    record.report.alarms.push("general");
    record.report.attributes.alarmCode = "minimal data set";
  }
  const year = new Date(receivedAt).getUTCFullYear();
  const time = Date.UTC(year, 0, 1) + seconds * 1000;
  record.time = time <= receivedAt + dayMs ? time : Date.UTC(year - 1, 0, 1) + seconds * 1000;
}

/**
 * A message that the terminal sent by satellite, as Iridium's gateway passes it on: an element with the IMEI and the
 * time, one with the place that the network estimates, and one with the terminal's tags, plain or compressed. (Iridium
 * Short Burst Data Service, Direct IP)
 */
export function readIridium(packet: Uint8Array, receivedAt: number): readonly Effect[] {
  const reader = new Reader(packet, 3);
  let estimate: { readonly time?: number; readonly place?: ReturnType<typeof readEstimate> } = {};
  let imei: string | undefined;
  let records: readonly TagRecord[] = [];
  while (reader.remaining >= 3) {
    const element = reader.u8();
    const length = reader.u16();
    const content = new Reader(packet, reader.offset, reader.offset + length);
    if (element === 0x01) {
      content.skip(4);
      imei = content.latin1(15);
      content.skip(5);
      estimate = { ...estimate, time: content.u32() * 1000 };
    } else if (element === 0x03) estimate = { ...estimate, place: readEstimate(content) };
    else if (element === 0x02) records = readPayload(packet, content, receivedAt);
    reader.skip(length);
  }
  if (imei === undefined || !/^\d{15}$/.test(imei)) return [{ type: "failure", cause: "malformed" }];
  const effects = (records.length > 0 ? records : [newRecord()]).map((record) => {
    if (estimate.time !== undefined) record.time ??= estimate.time;
    if (record.latitude === undefined && estimate.place !== undefined) {
      record.latitude = estimate.place.latitude;
      record.longitude = estimate.place.longitude;
      put(record.report, "accuracy", estimate.place.accuracy, "estimatedRadius");
    }
    return effectOf(record);
  });
  return [{ type: "identify", ids: [imei] }, ...effects];
}

/** Hemispheres, degrees and thousandths of minutes of both, and the radius in km. */
function readEstimate(content: Reader) {
  const flags = content.u8();
  const latitude = content.u8() + content.u16() / 60_000;
  const longitude = content.u8() + content.u16() / 60_000;
  return {
    latitude: roundDegrees((flags & 2) === 0 ? latitude : 0 - latitude),
    longitude: roundDegrees((flags & 1) === 0 ? longitude : 0 - longitude),
    accuracy: content.u32() * 1000,
  };
}

/** Tags, where they give a time and a place, or can be read to their end; else the bytes are compressed. */
function readPayload(packet: Uint8Array, content: Reader, receivedAt: number): readonly TagRecord[] {
  const [start, end] = [content.offset, content.offset + content.remaining];
  const plain = readRecords(content);
  const isPlain = plain.some((record) => record.time !== undefined && record.latitude !== undefined);
  const isWhole = plain.every(({ report }) => report.attributes.unread === undefined);
  if (isPlain || isWhole || end - start < shortestCompressed) return plain;
  return readCompressed(new Reader(packet, start, end), receivedAt);
}
