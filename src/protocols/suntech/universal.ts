import type { Effect } from "../../model/effects.ts";
import { type Cell, cellsText } from "../../wire/radio.ts";
import { bit, latin1Of } from "../../wire/reader.ts";
import { type Draft, draft, fixOf, put, raise, readingsOf } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { alerts, isDriver } from "./codes.ts";
import { externalPlace, readExternal, unescaped } from "./external.ts";
import { endOf, fieldsOf, isId, keep, momentOf, speedOf } from "./sentence.ts";
import { decoded, type Handler, malformed, unnamed } from "./session.ts";

/**
 * Fields of a report in their order, each of which its bit of the report map says to be there (Universal Reporting
 * Guide, 1.2).
 */
class Mapped {
  readonly fields: readonly string[];
  readonly map: number;
  at: number;

  constructor(fields: readonly string[], map: number, at: number) {
    this.fields = fields;
    this.map = map;
    this.at = at;
  }

  /** The field of a bit; undefined: the map has it not. */
  next(index: number): string | undefined {
    return bit(this.map, index) ? this.fields[this.at++] : undefined;
  }
}

/** MODEL, SW_VER, MSG_TYPE, DATE, TIME, cell, LAT, LON: bits 1 to 12. */
function readHead(
  report: Draft,
  from: Mapped,
): { time: number | undefined; latitude: number | undefined; longitude: number | undefined } {
  keep(report, "model", from.next(1));
  const firmware = from.next(2);
  if (firmware) report.readings.firmware = firmware;
  if (from.next(3) === "0") report.attributes.archive = true;
  const dateAt = from.at;
  const dated = from.next(4) !== undefined && from.next(5) !== undefined;
  const time = dated ? momentOf(from.fields, dateAt, report) : undefined;
  const cellId = hexOf(from.next(6));
  const [mcc, mnc, lac] = [numberOf(from.next(7)), numberOf(from.next(8)), hexOf(from.next(9))];
  const level = numberOf(from.next(10));
  const cell: Cell = { mcc, mnc, lac, cellId, signal: level };
  if (cellId) keep(report, "cells", cellsText([cell]));
  return { time, latitude: numberOf(from.next(11)), longitude: numberOf(from.next(12)) };
}

const inputs = ["input1", "input2", "input3", "input4", "input5", "input6", "input7"] as const;
const outputs = ["output1", "output2", "output3", "output4", "output5", "output6", "output7", "output8"] as const;

/** Inputs, the lowest of which is the ignition, and outputs: binary digits, the lowest last. */
export function readIo(report: Draft, input: number | undefined, output: number | undefined): void {
  if (input !== undefined) {
    report.readings.ignition = bit(input, 0);
    inputs.forEach((name, index) => {
      if (index < 3 || bit(input, index + 1)) report.readings[name] = bit(input, index + 1);
    });
  }
  if (output !== undefined)
    outputs.forEach((name, index) => {
      if (index < 2 || bit(output, index)) report.readings[name] = bit(output, index);
    });
}

function binaryOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[01]{1,16}$/.test(text) ? Number.parseInt(text, 2) : undefined;
}

/** What a type of report holds at bits 19 to 21. */
type ReadBody = (report: Draft, from: Mapped) => void;

/** STT: MODE, STT_RPT_TYPE, MSG_NUM. */
function readStatus(report: Draft, from: Mapped): void {
  const mode = numberOf(from.next(19));
  const reason = numberOf(from.next(20));
  if (mode !== undefined) report.attributes.mode = mode;
  if (reason !== undefined) report.attributes.event = reason;
  from.next(21);
}

/** ALT: ALERT_ID, ALERT_MOD, ALERT_DATA. */
function readAlert(report: Draft, from: Mapped): void {
  const code = numberOf(from.next(19));
  putAlert(report, code);
  keep(report, "alertModifier", from.next(20));
  const data = from.next(21);
  keep(report, "alertData", data);
  if (code === 59 && isDriver(data)) report.readings.driverId = data;
}

/** Gives an alert's code as the event and, where it is one, as an alarm. */
export function putAlert(report: Draft, code: number | undefined): void {
  const alarm = alerts.get(code ?? 0);
  if (alarm !== undefined) raise(report, alarm);
  if (code !== undefined) report.attributes.event = code;
}

/** Values that the server's settings add: by their own map (bit 23, ASSIGN_MAP), or simply behind. */
function readAssigned(report: Draft, from: Mapped): void {
  const reserved = from.next(22);
  keep(report, "reserved", reserved);
  const isMap = bit(from.map, 23) && /^[0-9A-F]{8}$/i.test(from.fields[from.at] ?? "");
  const map = isMap ? hexOf(from.fields[from.at++]) : undefined;
  if (map !== undefined)
    for (let index = 0; index < 31; index++) {
      if (bit(map, index)) putAssigned(report, index, from.fields[from.at++]);
    }
  for (let number = 1; from.at < from.fields.length && number <= 32; number++)
    keep(report, `assign${number}`, from.fields[from.at++]);
}

/** The first two that a map can ask for are the voltages of the backup battery and of the vehicle. */
function putAssigned(report: Draft, index: number, text: string | undefined): void {
  const value = numberOf(text);
  if (index === 0 && value !== undefined) put(report, "batteryVoltage", value, "backupVoltage");
  else if (index === 1 && value !== undefined) put(report, "externalVoltage", value, "powerVoltage");
  else keep(report, `io${index + 1}`, text);
}

function readReport(fields: readonly string[], readBody: ReadBody): Effect {
  const map = hexOf(fields[2]);
  if (map === undefined) return malformed;
  const report = draft();
  const from = new Mapped(fields, map, 3);
  const { time, latitude, longitude } = readHead(report, from);
  if (bit(map, 4) && time === undefined) return malformed;
  const speed = speedOf(from.next(13));
  const course = numberOf(from.next(14));
  put(report, "satellites", numberOf(from.next(15)), "satt");
  const fix = from.next(16);
  readIo(report, binaryOf(from.next(17)), binaryOf(from.next(18)));
  readBody(report, from);
  readAssigned(report, from);
  if (!bit(map, 11) || !bit(map, 12)) return readingsOf(report, time);
  if (latitude === undefined || longitude === undefined) return malformed;
  return fixOf({ time, valid: fix === "1", latitude, longitude, speed, course }, report);
}

function universal(readBody: ReadBody): Handler {
  return (frame, session) => {
    const fields = fieldsOf(frame);
    const id = fields[1];
    if (!isId(id)) return unnamed(session, malformed);
    return decoded(session, { id, product: "" }, [readReport(fields, readBody)]);
  };
}

/** The status report of the universal format. */
export const universalStatus: Handler = universal(readStatus);
/** The alert report of the universal format. */
export const universalAlert: Handler = universal(readAlert);

/** UEX: LEN, DATA, CHK_SUM at bits 19 to 21. */
export const universalExternal: Handler = (frame, session) => {
  const place = externalPlace(frame, 0, frame.length);
  if (place?.to === undefined) return unnamed(session, malformed);
  const data = unescaped(frame.subarray(place.from, place.to));
  const head = fieldsOf(frame.subarray(0, place.length - 1));
  const behind = latin1Of(frame.subarray(place.to + 1, endOf(frame))).split(";");
  const id = head[1];
  if (!isId(id)) return unnamed(session, malformed);
  const fields = [...head, "", "", ...behind];
  const effect = readReport(fields, (report, from) => {
    from.at = head.length + 2;
    const sum = data.reduce((total, byte) => (total + byte) & 0xff, 0);
    if (hexOf(from.fields[from.at++]) === sum) readExternal(report, data);
    else report.attributes.externalDamaged = true;
  });
  return decoded(session, { id, product: "" }, [effect]);
};

/** What stands in front of a list of beacons in BLE, which has no report map: bits 1, 2, 4, 5, 11 and 12. */
const beaconsMap = 0b1_1000_0011_0110;

/** BLE: beacons that were heard: level, its least and most, address, samples, major, minor. */
export const beacons: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = fields[1];
  if (!isId(id)) return unnamed(session, malformed);
  const report = draft();
  const from = new Mapped(fields, beaconsMap, 2);
  const { time, latitude, longitude } = readHead(report, from);
  if (time === undefined || latitude === undefined || longitude === undefined)
    return decoded(session, { id, product: "" }, [malformed]);
  const count = Math.min(numberOf(fields[from.at++]) ?? 0, 32);
  for (let number = 1; number <= count; number++)
    for (const name of beaconFields) keep(report, `tag${number}${name}`, fields[from.at++]);
  return decoded(session, { id, product: "" }, [fixOf({ time, valid: true, latitude, longitude }, report)]);
};

const beaconFields = ["Rssi", "RssiMin", "RssiMax", "Id", "Samples", "Major", "Minor"] as const;

/** BSA: sensors that were heard, behind a report map: level, address, major and minor of each. */
export const sensors: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = fields[1];
  const map = hexOf(fields[2]);
  if (!isId(id) || map === undefined) return unnamed(session, malformed);
  const report = draft();
  // The map's bits of the cell stand for nothing in this report.
  const from = new Mapped(fields, (map & 0x3e) | 0x1801, 3);
  const { time, latitude, longitude } = readHead(report, from);
  if (time === undefined || latitude === undefined || longitude === undefined)
    return decoded(session, { id, product: "" }, [malformed]);
  const count = Math.min(numberOf(fields[from.at++]) ?? 0, 32);
  for (let number = 1; number <= count; number++)
    for (const name of sensorFields) keep(report, `tag${number}${name}`, fields[from.at++]);
  return decoded(session, { id, product: "" }, [fixOf({ time, valid: true, latitude, longitude }, report)]);
};

const sensorFields = ["Rssi", "Id", "Major", "Minor"] as const;

/** TRV: a travel that ended; its fields are kept as they came. */
export const universalTravel: Handler = (frame, session) => {
  const fields = fieldsOf(frame);
  const id = fields[1];
  if (!isId(id)) return unnamed(session, malformed);
  const report = draft();
  keep(report, "travel", fields.slice(2).join(";"));
  return decoded(session, { id, product: "" }, [readingsOf(report)]);
};
