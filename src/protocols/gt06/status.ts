import type { Alarm } from "../../model/alarms.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, raise } from "../../wire/report.ts";
import { raiseCode } from "./alarm-codes.ts";

/** Voltage level 0 to 6 as a share of full (GT06 v1.8.1, 5.3.1.14). */
const fullLevel = 6;

/** GSM signal strength 0 to 4 (5.3.1.15). */
const fullSignal = 4;

/** Alarms of terminal information by bits 3 to 5; 6 is a fence, entered or left. */
const terminalAlarms: readonly (Alarm | undefined)[] = [
  undefined,
  "vibration",
  "powerCut",
  "lowBattery",
  "sos",
  undefined,
  "general",
  "removing",
];

/**
 * Terminal information: bit 7 oil and electricity cut, 3 to 5 alarm, 2 charging, 1 ACC, 0 defence (5.3.1.13).
 * `overspeedIs7`: the alarm value 7 is overspeed at some clones, removal at the others.
 */
export function readTerminal(reader: Reader, report: Draft, overspeedIs7 = false): void {
  const terminal = reader.u8();
  const readings = report.readings;
  readings.blocked = (terminal & 0x80) !== 0;
  readings.charging = (terminal & 0x04) !== 0;
  readings.ignition = (terminal & 0x02) !== 0;
  readings.armed = (terminal & 0x01) !== 0;
  const kind = (terminal >> 3) & 7;
  const alarm = kind === 7 && overspeedIs7 ? "overspeed" : terminalAlarms[kind];
  if (alarm !== undefined) raise(report, alarm);
}

/** Voltage level: 0 to 6, or where it is larger the charge in %. */
export function readBattery(reader: Reader, report: Draft): void {
  const level = reader.u8();
  if (level <= fullLevel) report.readings.battery = Math.floor((level * 100) / fullLevel);
  else if (level <= 100) report.readings.battery = level;
}

/** GSM signal strength: 0 to 4, or where it is larger a value in %; more than 100 is neither. */
export function readSignal(reader: Reader, report: Draft): void {
  const level = reader.u8();
  if (level <= fullSignal) report.readings.signal = (level * 100) / fullSignal;
  else if (level <= 100) report.readings.signal = level;
}

/** Voltage of the vehicle in hundredths of a volt. */
export function readSupply(reader: Reader, report: Draft): void {
  report.readings.externalVoltage = reader.u16() / 100;
}

/** Voltage of the vehicle in tenths of a volt, as NT and VL models give the tracker's battery too. */
export function readBatteryVoltage(reader: Reader, report: Draft): void {
  report.readings.batteryVoltage = reader.u8() / 10;
}

/** Alarm and language (5.3.1.17). The language asks for a text that no answer of ours carries. */
export function readAlarm(reader: Reader, report: Draft, model: string | undefined): void {
  if (reader.remaining > 0) raiseCode(report, reader.u8(), model);
  if (reader.remaining > 0) reader.skip(1);
}

/** Alarm and language where the language's high half carries on the alarm's number (multi-fence and 4G alarms). */
export function readWideAlarm(reader: Reader, report: Draft, model: string | undefined): void {
  if (reader.remaining < 2) return;
  const code = reader.u8();
  raiseCode(report, code | ((reader.u8() >> 4) << 8), model);
}

/** ACC, upload mode and re-upload (0x22, JM-VL03 v1.1.2): why the location was taken, and that it comes from memory. */
export function readUpload(reader: Reader, report: Draft): void {
  report.readings.ignition = reader.u8() > 0;
  report.attributes.uploadMode = reader.u8();
  if (reader.u8() > 0) report.attributes.archive = true;
}

/** Mileage in metres. */
export function readMileage(reader: Reader, report: Draft): void {
  report.readings.odometer = reader.u32() / 1000;
}

/** Modules behind a status: number 2, length 1, value. Those that no manual at hand names are passed over. */
export function readModulesOfStatus(reader: Reader, report: Draft): void {
  while (reader.remaining >= 3) {
    const id = reader.u16();
    const length = reader.u8();
    if (length > reader.remaining) return;
    const next = reader.offset + length;
    if (id === 0x18 && length === 2) report.readings.batteryVoltage = reader.u16() / 100;
    else if (id === 0x27 && length === 2) readSupply(reader, report);
    else if (id === 0x32 && length === 1) report.attributes.startupStatus = reader.u8();
    else if (id === 0x6a && length === 1) report.readings.battery = Math.min(100, reader.u8());
    reader.seek(next);
  }
}

/** A number whose sign is a bit of its own, `sign`, above its magnitude; bits beyond it are not looked at. */
export function signed(bits: number, sign: number): number {
  const magnitude = bits & (sign - 1);
  // 0 - 0, unlike -0, is no negative zero.
  return bits & sign ? 0 - magnitude : magnitude;
}
