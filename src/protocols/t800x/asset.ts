import { bit, type Reader } from "../../wire/reader.ts";
import { type Draft, draft, put, raise, readingsOf } from "../../wire/report.ts";
import { assetAlarms, putAlarm } from "./alarms.ts";
import { readAcceleration } from "./obd.ts";
import { acknowledgement, type Packet, type Read } from "./packet.ts";
import { type Place, putWifi, readDecimal, readPercent, readPlace, readTime, reportOf } from "./place.ts";
import { readStatus, signedTemperature } from "./vehicle.ts";

/** Bytes of access points, or of a place and what is behind it, in messages that may have either. */
const wifiBlock = 27;

/** Acceleration, battery, temperature, light, voltages, mileage, signal; then intervals, settings and the lock. */
function readDevice(report: Draft, body: Reader): void {
  readAcceleration(report, body);
  put(report, "battery", readPercent(body), "batteryCharge");
  put(report, "deviceTemperature", signedTemperature(body.u8()), "innerTemperature");
  put(report, "illuminance", readDecimal(body, 1, 10), "lightSensor");
  put(report, "batteryVoltage", readDecimal(body, 1, 10), "innerVoltage");
  const solar = readDecimal(body, 1, 10);
  if (solar !== undefined) report.attributes.solarVoltage = solar;
  put(report, "odometer", body.u32() / 1000, "mileage");
  const status = body.u16();
  report.readings.ignition = bit(status, 2);
  report.readings.charging = bit(status, 15) || bit(status, 3);
  put(report, "signal", (status >> 4) & 0x7f, "networkSignal");
  // Intervals, angle, distance, heartbeat and settings.
  const settings = 15;
  if (body.remaining <= settings) return;
  body.skip(settings);
  const lock = body.u8();
  if (lock !== 0xff) putLock(report, lock);
}

/** What a lock says of itself, as far as it says whether it is closed. */
const lockStates: ReadonlyMap<number, boolean> = new Map([
  ...[0x00, 0x05, 0x07].map((code) => [code, true] as const),
  ...[0x03, 0x06, 0x08].map((code) => [code, false] as const),
]);

/** From 0x11 on the second digit says what the lock does and the first who or what made it. */
function lockState(code: number): boolean | undefined {
  if (code < 0x11 || code > 0x57) return lockStates.get(code);
  const action = code & 0x0f;
  if (action === 1 || action === 5) return false;
  return action <= 7 && action > 0 ? true : undefined;
}

function putLock(report: Draft, code: number): void {
  report.attributes.lockType = code;
  const state = lockState(code);
  if (state !== undefined) report.readings.locked = state;
  if (code === 1) raise(report, "tampering");
}

/** 0x02 and 0x04 of 0x27: location and alarm of TLP, SolarX and KnightX. */
export const readAsset: Read = (packet) => {
  const { body, type } = packet;
  const report = draft();
  const { located } = readStatus(report, body.u8());
  const alarm = body.u8();
  putAlarm(report, alarm, assetAlarms);
  const time = readTime(body);
  const place = readPlace(body, located, report, false);
  readDevice(report, body);
  return [reportOf(place, time, report), acknowledgement(packet, "stored", type === 0x04 ? alarm : undefined)];
};

/** 0x24 and 0x25 of 0x27: the same with access points, where there is no place. */
export const readWifiAsset: Read = (packet) => {
  const { body, type } = packet;
  const report = draft();
  const status = body.u8();
  if (bit(status, 7)) report.attributes.archive = true;
  if (bit(status, 3)) report.attributes.gpsAsleep = true;
  const alarm = body.u8();
  putAlarm(report, alarm, assetAlarms);
  const time = readTime(body);
  const end = body.offset + wifiBlock;
  let place: Place | undefined;
  if (bit(status, 5)) putWifi(report, body);
  else place = readPlace(body, bit(status, 6), report, false);
  if (place !== undefined) {
    put(report, "satellites", body.u8(), "satelliteCount");
    put(report, "hdop", body.u16(), "horizontalDilution");
  }
  body.seek(end);
  readDevice(report, body);
  return [reportOf(place, time, report), acknowledgement(packet, "stored", type === 0x25 ? alarm : undefined)];
};

/** Time, GPS and place, with which messages of locks begin. */
function readHead({ body }: Packet, report: Draft) {
  const time = readTime(body);
  const { located } = readStatus(report, body.u8());
  return { time, place: readPlace(body, located, report, false) };
}

/** 0x17 of 0x27: what the lock did, and the number of the card or key. */
export const readLock: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const { time, place } = readHead(packet, report);
  const code = body.u8();
  report.attributes.event = code;
  putLock(report, code);
  const id = body.hex(Math.min(body.u8(), body.remaining));
  if (id !== "") report.attributes.lockId = id;
  return [reportOf(place, time, report), acknowledgement(packet, "stored")];
};

const subLockFlags = [
  "charging",
  "chargingOverVoltage",
  "lowPower",
  "highTemperature",
  "lowTemperature",
  "lockCoverOpen",
  "backCoverOpen",
  "gpsFixed",
  "gpsJamming",
] as const;

/** 0x27 of 0x27: a lock that is bound to the device by radio. */
export const readSubLock: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const { time, place } = readHead(packet, report);
  const strength = body.u8();
  if (strength !== 0xff) report.attributes.lockRssi = strength - 128;
  body.skip(4);
  report.attributes.event = body.u8();
  report.attributes.lockType = body.u8();
  const status = body.u16();
  for (const [index, name] of subLockFlags.entries())
    if (name !== "charging") report.attributes[name] = bit(status, index);
  report.attributes.lockCharging = bit(status, 0);
  report.readings.locked = !bit(status, 5);
  report.attributes.lockBattery = body.u16() / 1000;
  report.attributes.lockSolarVoltage = body.u16() / 1000;
  const temperature = body.u8();
  if (temperature !== 0xff) report.attributes.lockTemperature = temperature;
  report.attributes.lockId = body.hex(6);
  report.attributes.lockDevice = body.hex(4);
  return [reportOf(place, time, report), acknowledgement(packet, "stored")];
};

/** 0x26 of 0x27: time of the first, kind of sensor, interval, and temperatures in hundredths. */
export const readTemperatures: Read = (packet) => {
  const { body } = packet;
  const report = draft();
  const time = readTime(body);
  report.attributes.sensorType = body.u8();
  report.attributes.sampleInterval = body.u16();
  const samples: number[] = [];
  while (body.remaining >= 2) {
    const value = body.i16();
    if (value !== -1) samples.push(value / 100);
  }
  put(report, "temperature", samples[0], "firstSample");
  report.attributes.samples = samples.join(",");
  return [readingsOf(report, time), acknowledgement(packet, "stored")];
};

/** 0x20 of 0x27: the geofences that the device holds. */
export const readGeofences: Read = (packet) => [
  { type: "ignored", reason: "geofences of the device" },
  acknowledgement(packet, "identified"),
];
