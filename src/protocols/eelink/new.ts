import type { DecodeContext } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, put, readingsOrNothing } from "../../wire/report.ts";
import { Writer } from "../../wire/writer.ts";
import { readInstruction } from "./instruction.ts";
import { readParameters } from "./obd.ts";
import { putMessage } from "./old.ts";
import { imeiOf, type Kind, type PackageRead } from "./package.ts";
import { effectOf, readPosition } from "./position.ts";
import { putSharedStatus, putStatus, putWarning } from "./status.ts";

/** Version of the protocol that a login's response names, and the action that it asks for: none. */
const version = 1;
const noAction = 0;
/** Most bytes that are kept of what no document tells. */
const mostKept = 256;

/** IMEI, language, time zone, and versions. The response tells the time. (5.2) */
function readLogin(content: Reader, { receivedAt }: DecodeContext): PackageRead {
  const id = imeiOf(content.take(8));
  if (id === undefined) return { effects: [{ type: "failure", cause: "malformed" }] };
  const time = Math.floor(receivedAt / 1000);
  const response = new Writer(7).u32(time).u16(version).u8(noAction).done();
  return { effects: [{ type: "identify", ids: [id] }], content: response };
}

/** The status, of which both protocols mean the relay's bit otherwise. (5.3) */
function readHeartbeat(content: Reader): PackageRead {
  const report = draft();
  if (content.remaining >= 2) putSharedStatus(report, content.u16());
  return { effects: [readingsOrNothing(report, "heartbeat")] };
}

/** Position, status, and what the tracker measures; newer firmware adds to the end. (5.4) */
function readLocation(content: Reader): PackageRead {
  const position = readPosition(content);
  const { report } = position;
  const valid = putStatus(report, content.u16());
  if (content.remaining >= 2) put(report, "batteryVoltage", content.u16() / 1000, "battery_mV");
  if (content.remaining >= 4) {
    put(report, "analog1", content.u16() / 1000, "AIN0");
    put(report, "analog2", content.u16() / 1000, "AIN1");
  }
  if (content.remaining >= 4) put(report, "odometer", content.u32() / 1000, "mileage");
  if (content.remaining >= 4) {
    report.attributes.gsmCounter = content.u16();
    report.attributes.gpsCounter = content.u16();
  }
  if (content.remaining >= 4) {
    put(report, "steps", content.u16(), "pedometerSteps");
    report.attributes.walkingTime = content.u16();
  }
  if (content.remaining >= 12) readSensors(content, report);
  if (content.remaining >= 2) put(report, "temperature2", measured(content.i16(), 16), "externalTemperature");
  if (content.remaining >= 2) readBeacons(content, report);
  return { effects: [effectOf(position, valid)] };
}

/**
 * Temperature (1/256 °C), humidity (0.1 %), light (1/256 lx) and carbon dioxide (ppm): what a tracker has no sensor of
 * is 0.
 */
function readSensors(content: Reader, report: Draft): void {
  put(report, "temperature", measured(content.i16(), 256), "sensorTemperature");
  put(report, "humidity", measured(content.u16(), 10), "sensorHumidity");
  put(report, "illuminance", measured(content.u32(), 256), "sensorLight");
  put(report, "co2", measured(content.u32(), 1), "sensorCo2");
}

function measured(value: number, divisor: number): number | undefined {
  return value === 0 ? undefined : Math.round((value / divisor) * 1000) / 1000;
}

/** Bytes of a Bluetooth beacon. */
const beaconBytes = 16;

/**
 * Bluetooth beacons: of each its address, signal, model, version, battery (mV), temperature (1/256 °C) and data. (V2.1)
 */
function readBeacons(content: Reader, { attributes }: Draft): void {
  const count = content.u8();
  content.skip(1);
  for (let index = 1; index <= count && content.remaining >= beaconBytes; index++) {
    const name = `beacon${index}`;
    attributes[`${name}Mac`] = content.hex(6);
    attributes[`${name}Rssi`] = content.i8();
    content.skip(1);
    attributes[`${name}Model`] = content.u8();
    attributes[`${name}Version`] = content.u8();
    attributes[`${name}BatteryVoltage`] = content.u16() / 1000;
    attributes[`${name}Temperature`] = Math.round((content.i16() / 256) * 1000) / 1000;
    attributes[`${name}Data`] = content.u16();
  }
}

/** Position, the warning's code, status. (5.5) */
function readWarning(content: Reader): PackageRead {
  const position = readPosition(content);
  putWarning(position.report, content.u8());
  return { effects: [effectOf(position, content.remaining < 2 || putStatus(position.report, content.u16()))] };
}

/** Position, the report's type, status. (5.6) */
function readReport(content: Reader): PackageRead {
  const position = readPosition(content);
  position.report.attributes.event = content.u8();
  return { effects: [effectOf(position, content.remaining < 2 || putStatus(position.report, content.u16()))] };
}

/** Position, telephone number, text. (5.7) */
function readMessage(content: Reader): PackageRead {
  const position = readPosition(content);
  putMessage(content, position.report.attributes);
  return { effects: [effectOf(position, true)] };
}

/** Position and parameters of the vehicle. (5.8) */
function readObd(content: Reader): PackageRead {
  const position = readPosition(content);
  readParameters(content, position.report);
  keep(content, position.report, "obdData");
  return { effects: [effectOf(position, true)] };
}

/** A package whose content is kept as hex. */
function kept(pid: number, name: string, attribute: string): Kind {
  return {
    pid,
    name,
    read(content) {
      const report = draft();
      keep(content, report, attribute);
      return { effects: [readingsOrNothing(report, name)] };
    },
  };
}

function keep(content: Reader, { attributes }: Draft, name: string): void {
  if (content.remaining > 0) attributes[name] = content.hex(Math.min(content.remaining, mostKept));
}

function passed(pid: number, name: string): Kind {
  return { pid, name, read: () => ({ effects: [{ type: "ignored", reason: name }] }) };
}

/** Packages of the protocol since V2.0, and those that both have. */
export const newKinds: readonly Kind[] = [
  { pid: 0x01, name: "login", identifies: true, read: readLogin },
  { pid: 0x03, name: "heartbeat", read: readHeartbeat },
  { pid: 0x12, name: "location package", read: readLocation },
  { pid: 0x14, name: "warning package", read: readWarning },
  { pid: 0x15, name: "report package", read: readReport },
  { pid: 0x16, name: "message package", read: readMessage },
  { pid: 0x17, name: "OBD data package", read: readObd },
  kept(0x18, "OBD body package", "obdBody"),
  kept(0x19, "OBD fault package", "obdFault"),
  kept(0x1a, "pedometer package", "pedometer"),
  passed(0x1b, "param-set package"),
  passed(0x1e, "camera information"),
  passed(0x1f, "camera data"),
  { pid: 0x80, name: "instruction package", read: readInstruction },
  { ...passed(0x81, "broadcast package"), silent: true },
];
