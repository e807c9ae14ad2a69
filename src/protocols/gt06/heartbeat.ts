import type { DecodeContext, MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, put, raise, readingsOf } from "../../wire/report.ts";
import { alarmOf, raiseCode } from "./alarm-codes.ts";
import { readDate } from "./gps.ts";
import { acknowledged, type Handler, modelIs, row } from "./row.ts";
import type { Session } from "./session.ts";
import { readAlarm, readBattery, readModulesOfStatus, readSignal, readSupply, readTerminal, signed } from "./status.ts";

/**
 * Terminal information, supply in hundredths of a volt, signal and alarm: what R11 and VXT01 send for the usual status.
 */
export function readVoltageStatus(reader: Reader, report: Draft, context: DecodeContext): void {
  readTerminal(reader, report, true);
  readSupply(reader, report);
  readSignal(reader, report);
  raiseCode(report, reader.u8(), context.options.model);
}

/**
 * 0x13 (GT06 v1.8.1, 5.4): terminal information, voltage level, signal, alarm and language.
 * Later manuals call the last two the state of the extended ports, so a code that names no alarm raises none.
 */
const heartbeat: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  if (message.size === 5 && reader.peek(2) > 100) {
    // No signal is that strong: it is the low half of a voltage, as VXT01 has it in its alarms.
    readVoltageStatus(reader, report, context);
    return acknowledged(message, session, readingsOf(report));
  }
  readTerminal(reader, report);
  readBattery(reader, report);
  if (reader.remaining >= 1) readSignal(reader, report);
  if (reader.remaining >= 1) {
    const alarm = alarmOf(reader.u8(), context.options.model);
    if (alarm !== undefined) raise(report, alarm);
  }
  return acknowledged(message, session, readingsOf(report));
};

/** 0x13 of the LW series: the last two bytes are the supply in tenths of a volt, in their lower 12 bits. */
const lw: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  readTerminal(reader, report);
  readBattery(reader, report);
  readSignal(reader, report);
  report.readings.externalVoltage = (reader.u16() & 0x0fff) / 10;
  return acknowledged(message, session, readingsOf(report));
};

/** 0x13 of SEEWORLD: the byte behind the signal is the supply in volts. */
const seeworld: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  readTerminal(reader, report);
  readBattery(reader, report);
  readSignal(reader, report);
  report.readings.externalVoltage = reader.u8();
  return acknowledged(message, session, readingsOf(report));
};

const r11: Handler = (message, session, context) => {
  const report = draft();
  readVoltageStatus(message.reader, report, context);
  return acknowledged(message, session, readingsOf(report));
};

/**
 * 0x13 of OBD6: satellites of two systems and signal in 16 bits (5, 5 and 5, from bit 10 down), alarm, language,
 * battery in %, mode, supply, working time, and in mode 4 a temperature.
 */
const obd6: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  readTerminal(reader, report);
  const counts = reader.u16();
  report.readings.satellites = ((counts >> 10) & 0x1f) + ((counts >> 5) & 0x1f);
  report.attributes.gsmSignal = counts & 0x1f;
  readAlarm(reader, report, context.options.model);
  report.readings.battery = Math.min(100, reader.u8());
  const mode = reader.u8();
  report.attributes.mode = mode;
  readSupply(reader, report);
  reader.skip(3);
  if (mode === 4) put(report, "temperature", reader.i16() / 10, "temperatureCode");
  return acknowledged(message, session, readingsOf(report));
};

/** 0x13 with working times and a temperature, whose bit 15 is set above zero. */
const working: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  reader.skip(3);
  readAlarm(reader, report, context.options.model);
  report.readings.battery = Math.min(100, reader.u8());
  report.attributes.mode = reader.u8();
  report.attributes.workingVoltage = reader.u16() / 100;
  reader.skip(1);
  report.attributes.workingTimes = reader.u16();
  report.attributes.workingTime = reader.u16();
  // The other way round: the bit is set above zero.
  put(report, "temperature", signed(reader.u16() ^ 0x8000, 0x8000) / 10, "temperatureCode");
  return acknowledged(message, session, readingsOf(report));
};

/** 0x23 (GK310): terminal information, battery in hundredths of a volt, signal, language. */
const battery: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const terminal = reader.u8();
  report.readings.armed = (terminal & 0x01) !== 0;
  report.readings.ignition = (terminal & 0x02) !== 0;
  report.readings.charging = (terminal & 0x04) !== 0;
  if (reader.remaining >= 2) report.readings.batteryVoltage = reader.u16() / 100;
  if (reader.remaining >= 1) readSignal(reader, report);
  return acknowledged(message, session, readingsOf(report));
};

/** 0x36 of Jimi's 4G trackers: as 0x13, then modules. */
const modular: Handler = (message, session, context) => {
  const { reader } = message;
  const report = draft();
  readTerminal(reader, report);
  readBattery(reader, report);
  readSignal(reader, report);
  readAlarm(reader, report, context.options.model);
  readModulesOfStatus(reader, report);
  return acknowledged(message, session, readingsOf(report));
};

/**
 * 0xA3 of GL21L: terminal information, ports, voltage level, signal, supply in volts, language; a pet's tracker adds
 * steps and charge.
 */
const gl21l: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  readTerminal(reader, report);
  reader.skip(2);
  readBattery(reader, report);
  readSignal(reader, report);
  report.readings.externalVoltage = reader.u8();
  reader.skip(1);
  if (reader.remaining >= 9) {
    reader.skip(2);
    report.readings.steps = reader.u32();
    report.readings.battery = Math.min(100, reader.u8());
    report.readings.charging = reader.u8() === 1;
    report.readings.motion = reader.u8() === 1;
  }
  return acknowledged(message, session, readingsOf(report));
};

/** 0xB2: a Bluetooth tag that clocked in or out. */
const tag: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const time = readDate(reader);
  report.attributes.tagSignal = reader.i8();
  report.attributes.tagMac = reader.hex(6);
  report.attributes.tagUuid = reader.hex(16);
  report.attributes.tagMajor = reader.u16();
  report.attributes.tagMinor = reader.u16();
  report.attributes.tagBatteryVoltage = reader.u16() / 100;
  report.attributes.clock = (reader.u8() >> 2) & 0x0f;
  return acknowledged(message, session, readingsOf(report, time));
};

/** Messages that keep the connection and say how the tracker is. */
export const heartbeatRows: readonly MessageRow<Session>[] = [
  row("heartbeat (OBD6)", [0x13], obd6, (size) => size === 14),
  row("heartbeat with working times", [0x13], working, (size) => size === 16),
  row("heartbeat (LW)", [0x13], lw, (_size, context) => context.options.model?.toUpperCase().startsWith("LW") === true),
  row("heartbeat (R11)", [0x13], r11, (_size, context) => modelIs(context, "R11")),
  row("heartbeat (SEEWORLD)", [0x13], seeworld, (_size, context) => modelIs(context, "SEEWORLD")),
  row("heartbeat", [0x13], heartbeat),
  row("heartbeat with battery voltage", [0x23], battery),
  row("heartbeat with modules", [0x36], modular),
  row("status (GL21L)", [0xa3], gl21l, (size) => size < 30),
  row("Bluetooth clock", [0xb2], tag),
];
