import type { Alarm } from "../../model/alarms.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, put, raise } from "../../wire/report.ts";
import { cardNumber } from "./text.ts";

/** Models of Jimi IoT whose item 0xE8 is an "extended protocol number". */
export const jimiModels: ReadonlySet<string> = new Set(["JC371", "JC181", "JC182", "JC450", "JC451"]);

/** Events of 0xE8 ("JC series, JT/T 808 extension"). */
const events: Readonly<Record<number, Alarm>> = {
  1: "fault",
  1024: "hardAcceleration",
  1025: "hardBraking",
  1026: "hardCornering",
  1027: "overspeed",
  1029: "accident",
  1030: "vibration",
  1031: "tow",
  1032: "geofenceEnter",
  1033: "geofenceExit",
  1036: "doorOpened",
  1042: "hardAcceleration",
  1043: "hardBraking",
  1044: "hardCornering",
  1045: "laneChange",
  1046: "accident",
  1047: "accident",
  3073: "sos",
  3074: "lowPower",
  3077: "general",
  3086: "powerCut",
  3087: "lowBattery",
  3088: "powerOff",
  3090: "tampering",
};

/** 0x2005 "Device status": ids of two bytes, a length, a value. */
function readStatusList(reader: Reader, report: Draft, end: number): void {
  while (reader.offset + 3 <= end) {
    const id = reader.u16();
    const next = reader.u8() + reader.offset;
    if (id === 0x0001) put(report, "batteryVoltage", reader.u16() / 100, "batteryPower");
    else if (id === 0x0002) report.attributes.dataUsage = reader.u32();
    else if (id === 0x0003) put(report, "battery", reader.u8(), "batteryLevel");
    else if (id === 0x0004) report.readings.charging = reader.u8() === 0;
    else if (id === 0x0005) {
      const card = cardNumber(reader, 10)?.slice(0, 19);
      if (card !== undefined) report.readings.iccid = card;
    } else if (id === 0x0007) put(report, "hdop", reader.u16() / 10, "gnssHdop");
    else if (id === 0x2001) put(report, "externalVoltage", reader.u16() / 10, "mainPower");
    reader.seek(next);
  }
}

/** 0xE8 of Jimi's cameras. */
export function readJimi(reader: Reader, report: Draft, length: number): void {
  const end = reader.offset + length;
  const type = reader.u16();
  if (type === 0x2002) {
    reader.skip(1);
    report.attributes.uploadMode = reader.u8();
    if (reader.u8() === 1) report.attributes.archive = true;
  } else if (type === 0x2003) {
    reader.skip(1);
    report.readings.charging = reader.u8() === 1;
    const level = reader.u8();
    if (level >= 1 && level <= 6) report.readings.battery = Math.floor((level * 100) / 6);
    put(report, "batteryVoltage", reader.u16() / 100, "batteryPower");
    report.attributes.signalStrength = reader.u8();
    put(report, "externalVoltage", reader.u16() / 100, "mainPower");
  } else if (type === 0x2005) {
    reader.skip(1);
    readStatusList(reader, report, end);
  } else {
    report.attributes.event = type;
    if (type === 0x0c03 || type === 0x0c04) report.readings.ignition = type === 0x0c03;
    const alarm = events[type];
    if (alarm !== undefined) raise(report, alarm);
    if (alarm === "general") report.attributes.alarmCode = type;
  }
}
