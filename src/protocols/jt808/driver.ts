import type { MessageRow } from "../../wire/protocol.ts";
import { Reader } from "../../wire/reader.ts";
import { draft, raise, readingsOf } from "../../wire/report.ts";
import { readLocation, readTime } from "./location.ts";
import { answer, type Handler, heard, row, type Session, stored } from "./row.ts";
import { gbkText } from "./text.ts";

function counted(reader: Reader): string {
  const length = reader.remaining > 0 ? reader.u8() : 0;
  return gbkText(reader.take(Math.min(length, reader.remaining)));
}

/**
 * 0x0702 "Driver's identity" (2013 and 2019): 1 inserted or 2 pulled out, time, and of a card that was inserted the
 * result of reading it, name, licence, issuer, validity; in 2019 also the identity card.
 */
const card: Handler = (message, context) => {
  const { reader } = message;
  const report = draft();
  const { readings, attributes } = report;
  const state = reader.u8();
  attributes.cardStatus = state;
  const time = readTime(reader, context);
  if (state === 1) raise(report, "driverChanged");
  if (reader.remaining > 0) attributes.cardResult = reader.u8();
  const name = counted(reader);
  if (name !== "") readings.driverName = name;
  const licence = gbkText(reader.take(Math.min(20, reader.remaining)));
  if (licence !== "") readings.driverId = licence;
  const agency = counted(reader);
  if (agency !== "") attributes.cardAgency = agency;
  if (reader.remaining >= 4) attributes.cardValidity = reader.hex(4);
  const identity = reader.remaining >= 20 ? gbkText(reader.take(20)) : "";
  if (identity !== "") attributes.identityCard = identity;
  return [readingsOf(report, time), stored(message)];
};

/** 0x0702 of 2011: name, identity card (20), licence (40), issuer. */
const card2011: Handler = (message) => {
  const { reader } = message;
  const report = draft();
  const name = counted(reader);
  if (name !== "") report.readings.driverName = name;
  const identity = gbkText(reader.take(20));
  if (identity !== "") report.attributes.identityCard = identity;
  const licence = gbkText(reader.take(40));
  if (licence !== "") report.readings.driverId = licence;
  const agency = counted(reader);
  if (agency !== "") report.attributes.cardAgency = agency;
  return [readingsOf(report), stored(message)];
};

/** 0x0800 "Media event": id, kind (0 picture, 1 sound, 2 film), format, event, channel. */
const mediaEvent: Handler = (message) => {
  const { reader } = message;
  const report = draft();
  report.attributes.mediaId = reader.u32();
  report.attributes.mediaKind = reader.u8();
  report.attributes.mediaFormat = reader.u8();
  report.attributes.mediaEvent = reader.u8();
  report.attributes.mediaChannel = reader.u8();
  return [readingsOf(report), stored(message)];
};

/**
 * 0x0801 "Media data": as the event, then a location, then the data, which is not kept. 0x8800 says that all of it has
 * come.
 */
const mediaData: Handler = (message, context) => {
  const { reader, part } = message;
  if (part !== undefined && part.number > 1) {
    const last = part.number === part.count;
    return [{ type: "ignored", reason: last ? "end of media data" : "media data" }, heard(message)];
  }
  const id = reader.u32();
  const [kind, format, event, channel] = [reader.u8(), reader.u8(), reader.u8(), reader.u8()];
  const report = readLocation(new Reader(reader.take(28)), context, message.version);
  const attributes = {
    ...report.attributes,
    mediaId: id,
    mediaKind: kind,
    mediaFormat: format,
    mediaEvent: event,
    mediaChannel: channel,
  };
  const whole = part === undefined || part.count <= 1;
  const body = Uint8Array.of(id >>> 24, (id >>> 16) & 0xff, (id >>> 8) & 0xff, id & 0xff);
  return [{ ...report, attributes }, whole ? answer(message, 0x8800, body, "stored") : stored(message)];
};

/** Messages of the driver's card and of cameras. */
export const driverRows: readonly MessageRow<Session>[] = [
  row("driver's identity", [0x0702], card, (reader) => reader.remaining > 0 && reader.peek() <= 2),
  row("driver's identity (2011)", [0x0702], card2011),
  row("media event", [0x0800], mediaEvent),
  row("media data", [0x0801], mediaData),
];
