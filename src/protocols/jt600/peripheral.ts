import type { Alarm } from "../../model/alarms.ts";
import { bit, Reader } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise, readingsOrNothing } from "../../wire/report.ts";
import { mismatch } from "../../wire/text.ts";
import { readPlace, readTime } from "./place.ts";
import { contentOf, type Sentence, sentenceOf } from "./sentence.ts";
import { decoded, type Handler, malformed, reply } from "./session.ts";

const comma = 0x2c;
const escapeByte = 0x3d;
/** Commas before the binary part: `id,version,serial,WLNET,5,2,`. */
const commas = 6;

/** What may stand behind an escape; it means the byte that it is exclusive or the escape. */
const escaped: ReadonlySet<number> = new Set([0x15, 0x14, 0x11, 0x00]);

/**
 * The binary part of a sentence without its escapes: brackets, commas and equals signs are `=` and the byte exclusive
 * or `=`.
 */
function payloadOf(frame: Uint8Array): Uint8Array {
  const content = contentOf(frame);
  let from = 0;
  for (let count = 0; count < commas; count++) {
    const at = content.indexOf(comma, from);
    if (at < 0) return content.subarray(content.length);
    from = at + 1;
  }
  const payload = new Uint8Array(content.length - from);
  let length = 0;
  for (let at = from; at < content.length; at++) {
    const byte = content[at] ?? 0;
    const next = content[at + 1] ?? 0xff;
    if (byte === escapeByte && escaped.has(next)) {
      payload[length++] = next ^ escapeByte;
      at++;
    } else payload[length++] = byte;
  }
  return payload.subarray(0, length);
}

/** Reads what a kind of sensor has behind the head, up to the state of the link to it. */
type ReadSensor = (reader: Reader, report: Draft) => void;

/** JT126: temperature, whose first four bits are its sign; humidity; records that the lock keeps. */
const climate: ReadSensor = (reader, report) => {
  const temperature = reader.u16();
  const tenths = temperature & 0xfff;
  // 0xFFFF: no sensor.
  if (temperature !== 0xffff)
    put(report, "temperature", (temperature > 0xfff ? -tenths : tenths) / 10, "sensorDegrees");
  const humidity = reader.u8();
  if (humidity !== 0xff) put(report, "humidity", humidity, "sensorHumidity");
  reader.skip(2);
};

/** Bits of events that are alarms. */
type EventAlarms = readonly (readonly [index: number, alarm: Alarm])[];

/** JT709, a lock: closed; opened by Bluetooth, LoRa, card; back cover; cut; lost. */
const lockAlarms: EventAlarms = [
  [0, "lock"],
  [1, "unlock"],
  [2, "tampering"],
  [3, "unlock"],
  [4, "tampering"],
  [9, "unlock"],
];

/** JT802, a lock of a valve. */
const valveAlarms: EventAlarms = [
  [2, "lowBattery"],
  [4, "tampering"],
  [5, "tampering"],
  [6, "unlock"],
  [7, "lock"],
  [8, "unlock"],
];

/** Event, whose highest bit says that it comes from the memory; status; how often it was opened and closed. */
function subLock(alarms: EventAlarms): ReadSensor {
  return (reader, report) => {
    const { attributes } = report;
    const event = reader.u16();
    if (bit(event, 15)) attributes.archive = true;
    attributes.event = event & 0x7fff;
    for (const [index, alarm] of alarms) if (bit(event, index)) raise(report, alarm);
    const status = reader.u16();
    attributes.sensorRopeInserted = !bit(status, 0);
    attributes.sensorLocked = !bit(status, 1);
    if (bit(status, 2)) attributes.sensorBackCoverOpened = true;
    if (bit(status, 3)) attributes.sensorCharging = true;
    attributes.sensorLockCycles = reader.u16();
  };
}

const sensors: ReadonlyMap<number, ReadSensor> = new Map([
  [1, climate],
  [4, subLock(lockAlarms)],
  [5, subLock(valveAlarms)],
  [6, subLock(valveAlarms)],
  [9, subLock(valveAlarms)],
]);

/** The lock's view of the sensor: a record from the memory; lost; low battery. */
function readLink(state: number, report: Draft): void {
  if (bit(state, 0)) report.attributes.archive = true;
  for (const [index, code] of [
    [1, "sensor lost"],
    [2, "sensor's battery low"],
  ] as const) {
    if (!bit(state, index)) continue;
    raise(report, "general");
    report.attributes.alarmCode = code;
  }
}

/**
 * The lock's place, then the sensor's time, identifier, serial number, voltage, charge, signal, kind, and what it
 * measured. Undefined: the place can't be read.
 */
function readPayload(payload: Uint8Array) {
  const reader = new Reader(payload);
  const report = draft();
  const { attributes } = report;
  const position = readPlace(reader, report);
  // A sensor's clock that was never set is no defect of the message.
  const clock = readTime(reader, draft());
  if (position === undefined) return undefined;
  if (clock !== mismatch && clock !== undefined) attributes.sensorTime = new Date(clock).toISOString();
  attributes.sensorId = reader.hex(5).toUpperCase();
  reader.skip(1);
  attributes.sensorVoltage = reader.u16() / 100;
  attributes.sensorBattery = reader.u8();
  attributes.sensorRssi = 0 - reader.u8();
  const kind = reader.u8();
  attributes.sensorKind = kind;
  const read = sensors.get(kind);
  if (read === undefined) attributes.unread = reader.hex(reader.remaining);
  else {
    read(reader, report);
    if (reader.remaining > 0) readLink(reader.u8(), report);
    const card = reader.remaining >= 4 ? reader.u32() : 0;
    if (card !== 0) report.readings.driverId = String(card).padStart(10, "0");
  }
  return fixOf(position, report);
}

/** The lock sends the data again until their serial number comes back. */
function confirmation({ numbers }: Sentence) {
  const serial = numbers[1] ?? "";
  return /^\d{1,3}$/.test(serial) ? [reply(`P69,0,${Number(serial)}`, "stored")] : [];
}

/** `id,version,serial,WLNET,5,2,` and what a sensor or a lock near by reported. */
export const peripheral: Handler = (frame, session) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined) return { session, effects: [malformed] };
  const fix = readPayload(payloadOf(frame));
  return decoded(session, sentence.id, fix === undefined ? [malformed] : [fix, ...confirmation(sentence)]);
};

/** Other data of what is near by, which no document at hand tells of: they are kept in hex. */
export const otherPeripheral: Handler = (frame, session) => {
  const sentence = sentenceOf(frame);
  if (sentence === undefined) return { session, effects: [malformed] };
  const report = draft();
  const payload = payloadOf(frame);
  if (payload.length > 0) report.attributes.peripheralData = payload.toHex();
  return decoded(session, sentence.id, [readingsOrNothing(report, "data of a peripheral"), ...confirmation(sentence)]);
};
