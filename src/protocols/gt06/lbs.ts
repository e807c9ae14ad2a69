import type { MessageRow } from "../../wire/protocol.ts";
import { draft, readingsOf } from "../../wire/report.ts";
import { type CellList, keepCells, readAccessPoints, readCells, readOperator } from "./cells.ts";
import { packedDate, readDate } from "./gps.ts";
import { acknowledged, type Handler, row } from "./row.ts";
import { clockOffset, type Session } from "./session.ts";
import { readWideAlarm } from "./status.ts";

/** The serving cell and six neighbours. */
const cells2g: CellList = { count: 7, lac: 2, cell: 3 };
const cells4g: CellList = { count: 7, lac: 4, cell: 8 };

/**
 * 0x18, 0x24, 0x28, 0x2E, and with 4G cells 0xA1 (JM-VL03 v1.1.2): date, operator, cells. With access points: 0x2C, and
 * of 4G 0xA2.
 */
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

/** 0xF3: packed date, counted access points without signals; no answer. */
const accessPoints: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const date = packedDate(reader.take(6));
  readAccessPoints(reader, report, reader.u8(), false, 2);
  return { session, effects: [readingsOf(report, date)] };
};

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
];
