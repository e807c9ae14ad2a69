import type { MessageRow } from "../../wire/protocol.ts";
import { bcd, Reader } from "../../wire/reader.ts";
import { utc } from "../../wire/time.ts";
import { Writer } from "../../wire/writer.ts";
import { type CellList, keepCells, readAccessPoints, readCells, readOperator } from "./cells.ts";
import { positionOf, readAcc, readDate } from "./gps.ts";
import { draft, fixOf, readingsOf } from "./report.ts";
import { acknowledged, type Handler, row, unsealedRow } from "./row.ts";
import { clockOffset, type Session } from "./session.ts";
import { readWideAlarm } from "./status.ts";

/** The serving cell and six neighbours. */
const cells2g: CellList = { count: 7, lac: 2, cell: 3 };
const cells4g: CellList = { count: 7, lac: 4, cell: 8 };

/** 0x18, 0x24, 0x28, 0x2E, and with 4G cells 0xA1 (JM-VL03 v1.1.2): date, operator, cells. With access points: 0x2C, and of 4G 0xA2. */
function cells(list: CellList, wifi: boolean): Handler {
  return (message, session) => {
    const { reader } = message;
    const report = draft();
    const date = readDate(reader);
    const { mcc, mnc } = readOperator(reader);
    readCells(reader, report, mcc, mnc, list);
    if (wifi) {
      reader.skip(1);
      readAccessPoints(reader, report, reader.u8());
    }
    const time = date === undefined ? undefined : date - clockOffset(session, message.type);
    return acknowledged(message, session, readingsOf(report, time));
  };
}

/** 0x24 of WanWay S20: timing advance and a count ahead of the cells. */
const counted: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const date = readDate(reader);
  reader.skip(1);
  const { mcc, mnc } = readOperator(reader);
  readCells(reader, report, mcc, mnc, { count: reader.u8(), lac: 2, cell: 3 });
  return acknowledged(message, session, readingsOf(report, date));
};

/** 0x33 of AZ735 and SL4X: six cells with numbers of four bytes, then access points; SL4X has an MNC of two bytes. */
const wifiOfAz735: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const date = readDate(reader);
  const { mcc, mnc } = readOperator(reader);
  readCells(reader, report, mcc, mnc, { count: 6, lac: 2, cell: 4 });
  reader.skip(1);
  readAccessPoints(reader, report, reader.u8());
  return acknowledged(message, session, readingsOf(report, date));
};

/** 0x34 of SL4X: timing advance, an MNC of two bytes, and as many cells as there is room for. */
const cellsOfSl4x: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const date = readDate(reader);
  reader.skip(1);
  const { mcc, mnc } = readOperator(reader, true);
  const count = Math.floor(reader.remaining / 7);
  readCells(reader, report, mcc, mnc, { count, lac: 2, cell: 4 });
  return acknowledged(message, session, readingsOf(report, date));
};

/** 0xA9 of Jimi's 4G trackers: an alarm with counted cells and access points. */
const alarmWithWifi: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  const date = readDate(reader);
  const { mcc, mnc } = readOperator(reader);
  const recent = reader.u8() > 0;
  const count = reader.u8();
  readCells(reader, report, mcc, mnc, { ...(recent ? cells4g : cells2g), count });
  reader.skip(1);
  readAccessPoints(reader, report, reader.u8());
  readWideAlarm(reader, report, context.options.model);
  return acknowledged(message, session, readingsOf(report, date));
};

/** 0xA7: the serving cell and the telephone number that asked for its address; answered like any other cell. */
const cellWithPhone: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const { mcc, mnc } = readOperator(reader);
  const lac = reader.u32();
  keepCells(report, [{ mcc, mnc, lac, cellId: reader.u64() }]);
  return acknowledged(message, session, readingsOf(report));
};

/** Six bytes of packed decimal digits: year to second. */
function packedDate(bytes: Uint8Array): number | undefined {
  const [year, month, day, hour, minute, second] = Array.from(bytes, (byte) => bcd(Uint8Array.of(byte)) ?? -1);
  return year === undefined || month === undefined || day === undefined || year < 0
    ? undefined
    : utc(year, month, day, hour, minute, second);
}

/** 0xF3: packed date, counted access points without signals; no answer. */
const accessPoints: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const date = packedDate(reader.take(6));
  readAccessPoints(reader, report, reader.u8(), false, 2);
  return { session, effects: [readingsOf(report, date)] };
};

/** The answer to a message without serial number: its number and its date; `length` is 0 to access points (ZhongXun Topin 180612). */
function dated(length: number, type: number, date: Uint8Array): Uint8Array {
  return new Writer(12).u16(0x7878).u8(length).u8(type).raw(date).u16(0x0d0a).done();
}

/** 0x17 and 0x69 without serial number: as many access points as the length says, then cells. */
const unsealedWifi = unsealedRow("access points (unsealed)", "wifi", (frame, session) => {
  const reader = new Reader(frame, 4);
  const report = draft();
  const date = reader.take(6);
  readAccessPoints(reader, report, frame[2] ?? 0);
  const count = reader.u8();
  const mcc = reader.u16();
  readCells(reader, report, mcc, reader.u8(), { count, lac: 2, cell: 2 });
  const reply = dated(0, frame[3] ?? 0, date);
  return {
    session,
    effects: [readingsOf(report, packedDate(date)), { type: "reply", bytes: reply, when: "stored" }],
  };
});

/** 0x10 and 0x11 without serial number. */
const unsealedLocation = unsealedRow("location (unsealed)", "bareLocation", (frame, session) => {
  const reader = new Reader(frame, 4);
  const report = draft();
  const date = reader.take(6);
  const time = readDate(new Reader(date));
  report.readings.satellites = reader.u8() & 0x0f;
  const latitude = reader.u32();
  const longitude = reader.u32();
  const speed = reader.u8();
  const status = reader.u16();
  readAcc(report, status);
  const fix = fixOf(positionOf(time, latitude, longitude, speed, status), report);
  return { session, effects: [fix, { type: "reply", bytes: dated(7, frame[3] ?? 0, date), when: "stored" }] };
});

/** 0x08 without serial number keeps the connection; the manual does not count it among those to be answered. */
const unsealedHeartbeat = unsealedRow("heartbeat (unsealed)", "bareHeartbeat", (_frame, session) => ({
  session,
  effects: [{ type: "ignored", reason: "heartbeat" }],
}));

/** Cells and access points: places that only a database of transmitters could turn into positions. */
export const lbsRows: readonly MessageRow<Session>[] = [
  row("cells (WanWay S20)", [0x24], counted, (size) => size === 44),
  row("cells", [0x18, 0x24, 0x28, 0x2e], cells(cells2g, false)),
  row("cells (4G)", [0xa1], cells(cells4g, false)),
  row("cells and access points", [0x2c], cells(cells2g, true)),
  row("cells and access points (4G)", [0xa2], cells(cells4g, true)),
  row("cells and access points (AZ735)", [0x33], wifiOfAz735),
  row("cells (SL4X)", [0x34], cellsOfSl4x),
  row("alarm with access points", [0xa9], alarmWithWifi),
  row("cell with phone number", [0xa7], cellWithPhone),
  row("access points", [0xf3], accessPoints),
  unsealedWifi,
  unsealedLocation,
  unsealedHeartbeat,
];
