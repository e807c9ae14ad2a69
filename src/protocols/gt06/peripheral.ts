import type { MessageRow } from "../../wire/protocol.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, draft, readingsOf } from "../../wire/report.ts";
import { acknowledged, type Handler, row } from "./row.ts";
import type { Session } from "./session.ts";

/** Items of 0xF1 by number: length 1, value. Motion 2 and 4 is moving; charging voltage as it comes. */
function readState(reader: Reader, report: Draft, id: number): void {
  const { readings, attributes } = report;
  if (id === 0x01) {
    const motion = reader.u8();
    readings.motion = motion === 2 || motion === 4;
  } else if (id === 0x02) readings.armed = reader.u8() > 0;
  else if (id === 0x04) readings.ignition = reader.u8() > 0;
  else if (id === 0x05) readings.externalVoltage = reader.u16() / 100;
  else if (id === 0x07) readings.charging = reader.u8() > 0;
  else if (id === 0x0a) attributes.chargeVoltage = reader.u16();
  else if (id === 0x0b) attributes.batteryTemperature = reader.u16() / 10;
}

/** 0xF1 of Jimi's 4G trackers: time, then items. */
const state: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const time = reader.u32() * 1000;
  while (reader.remaining >= 3) {
    const id = reader.u16();
    const length = reader.u8();
    const next = reader.offset + length;
    readState(reader, report, id);
    reader.seek(next);
  }
  return acknowledged(message, session, readingsOf(report, time));
};

/** A Bluetooth device: kind of address, address, event, its data, kind and bytes of the data. */
function readBluetooth(reader: Reader, report: Draft, length: number): void {
  const { attributes } = report;
  reader.skip(1);
  attributes.peripheralMac = reader.hex(6);
  const event = reader.u8();
  attributes.peripheralEvent = event;
  const data = reader.u8();
  if (event > 0) attributes.peripheralEventData = data;
  attributes.peripheralDataType = reader.u8();
  attributes.peripheralData = reader.hex(length - 10);
}

/** 0xF2 (VL842): time, then items, of which a Bluetooth device has a length of two bytes and a battery one of one. */
const peripheral: Handler = (message, session) => {
  const { reader } = message;
  const report = draft();
  const time = reader.u32() * 1000;
  while (reader.remaining >= 3) {
    const id = reader.u16();
    if (id === 0x0a) readBluetooth(reader, report, reader.u16());
    else if (id === 0x0c) {
      const next = reader.u8() + reader.offset;
      report.attributes.externalBattery = reader.u8();
      report.attributes.externalBatteryCharging = reader.u8() > 0;
      report.attributes.externalBatteryCycles = reader.u16();
      reader.seek(Math.max(next, reader.offset));
    } else {
      const length = reader.u8();
      reader.skip(length === 0 ? reader.u8() : length);
    }
  }
  return acknowledged(message, session, readingsOf(report, time));
};

/** States of the tracker and of what is connected to it. */
export const peripheralRows: readonly MessageRow<Session>[] = [
  row("state items", [0xf1], state),
  row("peripheral items", [0xf2], peripheral),
];
