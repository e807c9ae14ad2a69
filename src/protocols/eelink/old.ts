import { latin1Of, type Reader } from "../../wire/reader.ts";
import { draft, put, readingsOf } from "../../wire/report.ts";
import { readParameters } from "./obd.ts";
import type { Kind, PackageRead } from "./package.ts";
import { effectOf, readOldPosition } from "./position.ts";
import { putOldStatus, putWarning } from "./status.ts";

/** Kinds of a status package: the ignition was switched on, or off. */
const ignitionOn = 0x01;
const ignitionOff = 0x02;
/** Kinds up to this one have the tracker's time. */
const inputsChanged = 0x03;
/** Bytes of a telephone number. */
export const phoneBytes = 21;

/** Position, then status, battery (mV), signal, two analog inputs (mV), as far as they are there. */
function readGps(content: Reader): PackageRead {
  const { position, valid } = readOldPosition(content);
  const { report } = position;
  if (content.remaining >= 2) putOldStatus(report, content.u16());
  if (content.remaining >= 8) {
    put(report, "batteryVoltage", content.u16() / 1000, "battery_mV");
    report.attributes.gsmSignal = content.u16();
    put(report, "analog1", content.u16() / 1000, "analog1_mV");
    put(report, "analog2", content.u16() / 1000, "analog2_mV");
  }
  return { effects: [effectOf(position, valid)] };
}

function readAlarm(content: Reader): PackageRead {
  const { position, valid } = readOldPosition(content);
  putWarning(position.report, content.u8());
  return { effects: [effectOf(position, valid)] };
}

function readState(content: Reader): PackageRead {
  const { position, valid } = readOldPosition(content);
  const { report } = position;
  const kind = content.u8();
  report.attributes.event = kind;
  if (kind >= ignitionOn && kind <= inputsChanged && content.remaining >= 4) content.skip(4);
  if (content.remaining >= 2) putOldStatus(report, content.u16());
  if (kind === ignitionOn || kind === ignitionOff) report.readings.ignition = kind === ignitionOn;
  return { effects: [effectOf(position, valid)] };
}

function readMessage(content: Reader): PackageRead {
  const { position, valid } = readOldPosition(content);
  putMessage(content, position.report.attributes);
  return { effects: [effectOf(position, valid)] };
}

/** A text message that the tracker got: the sender's number and its text. */
export function putMessage(content: Reader, attributes: { [name: string]: string | number | boolean }): void {
  const phone = latin1Of(content.take(Math.min(phoneBytes, content.remaining)))
    .replaceAll("\0", "")
    .trim();
  if (phone !== "") attributes.phone = phone;
  if (content.remaining > 0) attributes.message = textOf(content);
}

/** Text to the end of a package. */
export function textOf(content: Reader): string {
  return new TextDecoder().decode(content.take(content.remaining)).replaceAll("\0", "").trim();
}

/** Time and parameters; of two bytes only it is a status. */
function readObd(content: Reader): PackageRead {
  const report = draft();
  if (content.remaining < 5) {
    putOldStatus(report, content.u16());
    return { effects: [readingsOf(report)] };
  }
  const time = content.u32() * 1000;
  readParameters(content, report);
  return { effects: [readingsOf(report, time)] };
}

/** Packages of the old protocol. (Terminal Communication Protocol V1.8.4) */
export const oldKinds: readonly Kind[] = [
  { pid: 0x02, name: "GPS package", silent: true, read: readGps },
  { pid: 0x04, name: "alarm package", read: readAlarm },
  { pid: 0x05, name: "terminal state package", read: readState },
  { pid: 0x06, name: "SMS package", read: readMessage },
  { pid: 0x07, name: "OBD package", read: readObd },
];
