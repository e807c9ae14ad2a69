import type { Effect } from "../../model/effects.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import { cellsText } from "../../wire/radio.ts";
import { Reader } from "../../wire/reader.ts";
import { draft, fixOf, put, readingsOf } from "../../wire/report.ts";
import { readAlarms } from "./alarms.ts";
import { readItems } from "./items.ts";
import { codesText, keepUnread, readCodes, readParameters, readTroubleCodes } from "./obd.ts";
import { loginContent, type Read, reply, row, type Session } from "./row.ts";
import { readGps, readPositions, readStatus, readText, reportsOf } from "./status.ts";

/** Unit of the acceleration sensor, g. */
const gravity = 0.015625;

/** 0x1001: status, positions, firmware, hardware, parameters of its settings. Answered with the time. */
const login: Read = (message, { receivedAt }) => {
  const { body } = message;
  const status = readStatus(body);
  const positions = readPositions(body);
  const [firmware, hardware] = [readText(body), readText(body)];
  if (firmware !== "") status.report.readings.firmware = firmware;
  if (hardware !== "") status.report.attributes.hardware = hardware;
  return [...reportsOf(status, positions), reply(message, "identified", 0x9001, loginContent(receivedAt))];
};

const heartbeat: Read = (message) => [{ type: "ignored", reason: "heartbeat" }, reply(message, "identified", 0x9003)];

/** 0x1002: status and positions. */
const logout: Read = ({ body }) => {
  const status = readStatus(body);
  return reportsOf(status, readPositions(body));
};

/** So many values of 16 bits, no more than there are. */
function readValues(body: Reader, count: number): readonly number[] {
  const values: number[] = [];
  while (values.length < count && body.remaining >= 2) values.push(body.u16le());
  return values;
}

/** 0x4001: whether it is from memory, status, positions, a count and the engine's speed at each. */
const gps: Read = ({ body }) => {
  const archive = body.u8() === 1;
  const status = readStatus(body);
  const positions = readPositions(body);
  const speeds = body.remaining > 0 ? readValues(body, body.u8()) : [];
  return reportsOf(status, positions, archive, (own, index) => put(own, "rpm", speeds[index], "engineSpeed"));
};

/** 0x4002: status, interval in s, codes, and groups of their values, the last one of now. */
const obdData: Read = ({ body }) => {
  const { time, report } = readStatus(body);
  const interval = body.u16le();
  const codes = readCodes(body);
  const [groups, size] = [body.u8(), body.u8()];
  const effects: Effect[] = [];
  for (let later = groups - 1; later >= 0 && body.remaining >= size; later--) {
    const own = later === 0 ? report : draft();
    const end = body.offset + size;
    readParameters(new Reader(body.bytes, body.offset, end), own, codes);
    body.seek(end);
    if (later > 0 && time !== undefined) effects.push(readingsOf(own, time - later * interval * 1000));
  }
  keepUnread(body, report);
  return [...effects, readingsOf(report, time)];
};

/** 0x4003: status, interval, a count and accelerations along X, Y and Z. */
const accelerations: Read = ({ body }) => {
  const { time, report } = readStatus(body);
  report.attributes.sampleInterval = body.u16le();
  const samples: string[] = [];
  for (let left = body.u8(); left > 0 && body.remaining >= 6; left--) {
    const axes = [body.i16le() * gravity, body.i16le() * gravity, body.i16le() * gravity] as const;
    samples.push(axes.join(","));
    if (left > 1) continue;
    put(report, "accelerationX", axes[0], "axisX");
    put(report, "accelerationY", axes[1], "axisY");
    put(report, "accelerationZ", axes[2], "axisZ");
  }
  if (samples.length > 1) report.attributes.accelerations = samples.join(";");
  return [readingsOf(report, time)];
};

/** 0x4004: status, codes of the parameters that the vehicle has. */
const supported: Read = ({ body }) => {
  const { time, report } = readStatus(body);
  const codes = readCodes(body);
  if (codes.length > 0) report.attributes.supportedPids = codesText(codes);
  return [readingsOf(report, time)];
};

/** 0x4005: status, kind, codes, values as they were when a trouble code came up. */
const freezeFrame: Read = ({ body }) => {
  const { time, report } = readStatus(body);
  report.attributes.freezeFrame = body.u8();
  readParameters(body, report, readCodes(body));
  return [readingsOf(report, time)];
};

/** 0x4006 and 0x400B: status, kind, trouble codes. */
function troubleCodes(size: 2 | 4): Read {
  return ({ body }) => {
    const { time, report } = readStatus(body);
    readTroubleCodes(body, report, size);
    return [readingsOf(report, time)];
  };
}

/** 0x4007: number, status, positions, alarms. Answered with the number. */
const alarm: Read = (message) => {
  const { body } = message;
  const number = body.take(4);
  const status = readStatus(body);
  const positions = readPositions(body);
  if (body.remaining > 0) readAlarms(body, status.report);
  return [...reportsOf(status, positions), reply(message, "stored", 0xc007, number)];
};

/** 0x4008: status, area and number of a cell. */
const cell: Read = ({ body }) => {
  const { time, report } = readStatus(body);
  const cells = cellsText([{ lac: body.u16le(), cellId: body.u16le() }]);
  if (cells !== undefined) report.attributes.cells = cells;
  return [readingsOf(report, time)];
};

/** 0x4009 and 0x5101: a position, of a sleeping tracker behind its time. */
function position(before: number): Read {
  return ({ body }) => {
    body.skip(before);
    const found = readGps(body);
    const report = draft();
    put(report, "satellites", found.satellites, "satellitesUsed");
    return [fixOf(found, report)];
  };
}

/** 0x400E: status, positions, a value of the fuel sensor for each position. */
const fuelSensor: Read = ({ body }) => {
  const status = readStatus(body);
  const positions = readPositions(body);
  const values = readValues(body, positions.length);
  return reportsOf(status, positions, false, (own, index) => {
    const value = values[index];
    if (value !== undefined) own.attributes.fuelSensor = value;
  });
};

/** 0x401F: whether it is from memory, number, status, positions, items of a tag and a length. */
const comprehensive: Read = ({ body }) => {
  const archive = body.u8() === 1;
  body.skip(4);
  const status = readStatus(body);
  const positions = readPositions(body);
  readItems(body, status.report);
  return reportsOf(status, positions, archive);
};

/** Messages of OBD trackers. */
export const scRows: readonly MessageRow<Session>[] = [
  row("SC 0x1001 login", "SC", [0x1001], login),
  row("SC 0x1002 logout", "SC", [0x1002], logout),
  row("SC 0x1003 heartbeat", "SC", [0x1003], heartbeat),
  row("SC 0x4001 GPS data", "SC", [0x4001], gps),
  row("SC 0x4002 OBD data", "SC", [0x4002], obdData),
  row("SC 0x4003 G-sensor data", "SC", [0x4003], accelerations),
  row("SC 0x4004 supported OBD data", "SC", [0x4004], supported),
  row("SC 0x4005 freeze frame", "SC", [0x4005], freezeFrame),
  row("SC 0x4006 trouble codes of a passenger car", "SC", [0x4006], troubleCodes(2)),
  row("SC 0x4007 alarm", "SC", [0x4007], alarm),
  row("SC 0x4008 cell", "SC", [0x4008], cell),
  row("SC 0x4009 GPS data in sleep", "SC", [0x4009], position(4)),
  row("SC 0x400B trouble codes of a commercial vehicle", "SC", [0x400b], troubleCodes(4)),
  row("SC 0x400E fuel sensor", "SC", [0x400e], fuelSensor),
  row("SC 0x401F comprehensive data", "SC", [0x401f], comprehensive),
  row("SC 0x5101 AGPS request", "SC", [0x5101], position(0)),
];
