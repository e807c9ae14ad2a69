import type { Effect } from "../../model/effects.ts";
import type { MessageRow } from "../../wire/protocol.ts";
import { cellsText } from "../../wire/radio.ts";
import type { Reader } from "../../wire/reader.ts";
import { draft, fixOf, put } from "../../wire/report.ts";
import { seal } from "./frames.ts";
import { keepUnread } from "./obd.ts";
import { type Read, reply, row, type Session } from "./row.ts";
import { readGps, readText } from "./status.ts";

/** Records of `0x4204`, and the bytes of each behind its position. */
const records = 8;
const recordRest = 31;

/**
 * A position, and behind it status, battery, distance in m, geofence and its flags, further flags, a cell; with `login`
 * the versions.
 */
function readRecord(reader: Reader, kind: "login" | "record", archive = false): Effect {
  const position = readGps(reader);
  const report = draft();
  const { attributes, readings } = report;
  if (archive) attributes.archive = true;
  put(report, "satellites", position.satellites, "satellitesUsed");
  attributes.status = reader.u32le();
  attributes.batteryLevel = reader.u8();
  put(report, "odometer", reader.u32le() / 1000, "totalMileage");
  attributes.geofenceId = reader.u8();
  attributes.geofenceFlags = reader.u8();
  attributes.flags = reader.u8();
  if (kind === "record" || reader.remaining >= 4) {
    const cells = cellsText([{ lac: reader.u16le(), cellId: reader.u16le() }]);
    if (cells !== undefined) attributes.cells = cells;
  }
  if (kind === "record") return fixOf(position, report);
  const [firmware, hardware] = [readText(reader), readText(reader)];
  if (firmware !== "") readings.firmware = firmware;
  if (hardware !== "") attributes.hardware = hardware;
  return fixOf(position, report);
}

const login: Read = (message) => [readRecord(message.body, "login"), reply(message, "identified", 0x8001)];

/** 0x4206: whether it is from memory, a count, records. */
const heartbeat: Read = (message) => {
  const { body } = message;
  const archive = body.u8() === 1;
  const effects: Effect[] = [];
  for (let left = body.u8(); left > 0; left--) effects.push(readRecord(body, "record", archive));
  if (effects.length === 0) effects.push({ type: "ignored", reason: "heartbeat" });
  return [...effects, reply(message, "stored", 0x8206)];
};

const keepAlive: Read = (message) => [{ type: "ignored", reason: "heartbeat" }, reply(message, "identified", 0x8003)];

/** A position, and what the manuals at hand do not tell of. */
function readPlace(body: Reader): Effect {
  const position = readGps(body);
  const report = draft();
  put(report, "satellites", position.satellites, "satellitesUsed");
  keepUnread(body, report);
  return fixOf(position, report);
}

/** MPIP 0x4001: answered with the version 0xFF. */
const mpipLogin: Read = ({ body, type, idBytes }) => [
  readPlace(body),
  { type: "reply", bytes: seal(0xff, idBytes, type), when: "identified" },
];

/** MPIP 0x2001: number, time, kind, position. */
const mpipReport: Read = ({ body, idBytes }) => {
  body.skip(9);
  const content = Uint8Array.of(0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
  return [readPlace(body), { type: "reply", bytes: seal(undefined, idBytes, 0x1001, content), when: "stored" }];
};

const mpipPosition: Read = ({ body }) => [readPlace(body)];

/** MPIP 0x4204: eight positions. */
const mpipRecords: Read = ({ body }) => {
  const effects: Effect[] = [];
  for (let left = records; left > 0; left--) {
    const position = readGps(body);
    const report = draft();
    put(report, "satellites", position.satellites, "satellitesUsed");
    effects.push(fixOf(position, report));
    body.skip(recordRest);
  }
  return effects;
};

/** Messages of trackers without OBD. */
export const ccRows: readonly MessageRow<Session>[] = [
  row("CC 0x4001 login", "CC", [0x4001], login),
  row("CC 0x4206 heartbeat with positions", "CC", [0x4206], heartbeat),
  row("CC 0x4003 heartbeat", "CC", [0x4003], keepAlive),
  row("MPIP 0x4001 login", "MPIP", [0x4001], mpipLogin),
  row("MPIP 0x2001 report", "MPIP", [0x2001], mpipReport),
  row("MPIP 0x4201, 0x4202, 0x4206 position", "MPIP", [0x4201, 0x4202, 0x4206], mpipPosition),
  row("MPIP 0x4204 positions", "MPIP", [0x4204], mpipRecords),
];
