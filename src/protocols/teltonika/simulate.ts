import type { Alarm } from "../../model/alarms.ts";
import type { ReadingName, Readings } from "../../model/readings.ts";
import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { type AvlRecord, codec8Packet, dataPacket, type IoElement, login } from "./encode.ts";

/**
 * Where a reading lies in a record: size, id of its element, and what the value is times there ("Permanent", "OBD" and
 * "CAN adapter" elements).
 */
const elements = {
  ignition: ["one", 239, 1],
  motion: ["one", 240, 1],
  battery: ["one", 113, 1],
  charging: ["one", 116, 1],
  input1: ["one", 1, 1],
  input2: ["one", 2, 1],
  input3: ["one", 3, 1],
  input4: ["one", 4, 1],
  output1: ["one", 179, 1],
  output2: ["one", 180, 1],
  fuel: ["one", 89, 1],
  throttle: ["one", 82, 1],
  engineLoad: ["one", 114, 1],
  vehicleSpeed: ["one", 81, 1],
  externalVoltage: ["two", 66, 1000],
  batteryVoltage: ["two", 67, 1000],
  analog1: ["two", 9, 1000],
  analog2: ["two", 6, 1000],
  rpm: ["two", 85, 1],
  humidity: ["two", 86, 10],
  fuelVolume: ["two", 84, 10],
  coolantTemperature: ["two", 115, 10],
  doorOpen: ["two", 90, 1],
  temperature: ["four", 72, 10],
  temperature2: ["four", 73, 10],
  temperature3: ["four", 74, 10],
  temperature4: ["four", 75, 10],
  fuelUsed: ["four", 83, 10],
  odometer: ["four", 87, 1000],
} as const satisfies { readonly [K in ReadingName]?: readonly ["one" | "two" | "four", number, number] };

/** The event that tells of an alarm: the element and its value ("Eventual I/O elements"). */
const events = {
  sos: [236, 1],
  powerCut: [252, 1],
  powerRestored: [252, 0],
  idle: [251, 1],
  overspeed: [255, 1],
  tow: [246, 1],
  accident: [247, 1],
  jamming: [249, 1],
  hardAcceleration: [253, 1],
  hardBraking: [253, 2],
  hardCornering: [253, 3],
  geofenceEnter: [155, 1],
  geofenceExit: [155, 0],
} as const satisfies { readonly [K in Alarm]?: readonly [number, number] };

/** What a Dallas probe says before it has measured, 85.0 °C: one that warm is told a tenth warmer. */
const dallasReset = 850;

/** The names that a table has, as its own type knows them. */
function namesOf<T extends object>(table: T): readonly (keyof T & string)[] {
  const names: (keyof T & string)[] = [];
  for (const name in table) names.push(name);
  return names;
}

const carriedReadings = namesOf(elements);
const carriedAlarms = namesOf(events);

/**
 * What an FMB tracker with its usual elements sends for a report: eleven IO elements, and those of its further
 * readings.
 */
function recordOf(report: SimulatedReport): AvlRecord {
  const one: IoElement[] = [
    [21, 4],
    [200, 0],
    [69, 1],
  ];
  const two: IoElement[] = [
    [181, 14],
    [182, 8],
  ];
  const four: IoElement[] = [[241, 24_701]];
  const places = { one, two, four };
  const { ignition, battery, speed } = report;
  const usual = { ignition, motion: speed > 0, battery, externalVoltage: ignition ? 14.1 : 12.6, batteryVoltage: 4 };
  const readings: Readings = { ...usual, ...report.readings };
  for (const name of carriedReadings) {
    const value = readings[name];
    const [size, id, times] = elements[name];
    if (value === undefined) continue;
    const raw = Math.round(Number(value) * times);
    places[size].push([id, name.startsWith("temperature") && raw === dallasReset ? raw + 1 : raw]);
  }
  const event = carriedAlarms.find((name) => name === report.alarm);
  if (event !== undefined) one.push(events[event]);
  return {
    time: report.time,
    longitude: Math.round(report.longitude * 1e7),
    latitude: Math.round(report.latitude * 1e7),
    altitude: Math.round(report.altitude),
    angle: Math.round(report.course) % 360,
    satellites: readings.satellites ?? report.satellites,
    speed: Math.round(speed),
    ...(event !== undefined && { event: events[event][0], priority: 1 }),
    one,
    two,
    four,
  };
}

/** What the server's bytes mean to a tracker: 01 after the login, four bytes of count after a packet, or a command. */
function answer(bytes: Uint8Array): ReturnType<NonNullable<SimulatedDevice["answer"]>> {
  if (bytes.length === 0) return "more";
  if (bytes[0] === 1) return { length: 1, accepted: true, reports: 0 };
  if (bytes.length < 4) return "more";
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reports = view.getUint32(0);
  if (reports > 0) return { length: 4, accepted: true, reports };
  // Four zero bytes are the preamble of a command; Waybeam never says that it took no record.
  if (bytes.length < 8) return "more";
  const length = 12 + view.getUint32(4);
  return bytes.length < length ? "more" : { length, accepted: true, reports: 0 };
}

/** "Codec 12": a packet of type 5 with a command is answered by one of type 6: `<command> OK`. */
function obey(message: Uint8Array): Uint8Array | undefined {
  if (message.length < 20 || message[0] !== 0 || message[8] !== 12 || message[10] !== 5) return undefined;
  const command = latin1Of(message.subarray(15, message.length - 5));
  return dataPacket(12, 6, bytesOfLatin1(`${command} OK`));
}

/** A tracker that logs in and sends Codec 8 packets. */
export const simulate: SimulatedDevice = {
  carries: { readings: [...carriedReadings, "satellites"], alarms: carriedAlarms },
  login: (device) => login(device),
  report: (_device, reports) => codec8Packet(reports.map(recordOf)),
  answer,
  obey,
};
