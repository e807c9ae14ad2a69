import type { Alarm } from "../../model/alarms.ts";
import type { FlagReading, NumberReading } from "../../model/readings.ts";
import { putCsq } from "../../wire/radio.ts";
import { bytesOfHex, Reader } from "../../wire/reader.ts";
import { put, raise } from "../../wire/report.ts";
import { kmPerMile } from "../../wire/units.ts";
import { readBeacons } from "./beacons.ts";
import type { PositionRecord } from "./record.ts";

/**
 * How a field stands in a binary message: an unsigned number of so many bytes, a signed one, a text that a zero ends,
 * one measurement of the three
 * axes or ten; "unknown": no document says.
 */
export type Form = 1 | 2 | 4 | 8 | "i8" | "i16" | "i32" | "text" | "axes" | "samples" | "unknown";

/** A field that AT$FORM adds to positions. */
export interface Field {
  readonly form: Form;
  /** The name of its attribute, where it is one or can't be a reading. */
  readonly name: string;
  /** Numbers of a number, texts of a text, hex of raw bytes and of what has more than 32 bits. */
  readonly put: (record: PositionRecord, value: number | string) => void;
}

const fields = new Map<string, Field>();

function set(key: string, form: Form, name: string, read: Field["put"]): void {
  fields.set(key, { form, name, put: read });
}

/** Kept as it is. */
function plain(key: string, form: Form, name: string): void {
  set(key, form, name, ({ report }, value) => {
    report.attributes[name] = value;
  });
}

/** A number of a reading: `step` of its unit, from `first` on. */
function number(key: string, form: Form, reading: NumberReading, name: string, step = 1, first = 0): void {
  set(key, form, name, ({ report }, value) => {
    if (typeof value === "number") put(report, reading, Math.round((value * step + first) * 1e4) / 1e4, name);
  });
}

function flag(key: string, form: Form, reading: FlagReading, name: string): void {
  set(key, form, name, ({ report }, value) => {
    report.readings[reading] = value !== 0;
  });
}

function alarm(key: string, raised: Alarm, name: string): void {
  set(key, 1, name, ({ report }, value) => {
    if (value !== 0) raise(report, raised);
  });
}

function text(key: string, reading: "vin" | "iccid" | "driverId" | "driver2Id", name: string): void {
  set(key, "text", name, ({ report }, value) => {
    if (value !== "0") report.readings[reading] = String(value);
  });
}

// The tracker, its place and its network. (Protocol Document, AT$FORM)
set("CI", "text", "customInformation", () => {});
number("SA", 1, "satellites", "satelliteCount");
number("MV", 2, "externalVoltage", "mainVoltage", 0.1);
number("BV", 2, "batteryVoltage", "backupVoltage", 0.1);
set("GQ", 1, "gsmQuality", ({ report, cell }, value) => {
  if (typeof value !== "number") return;
  cell.signal = value;
  putCsq(report, "rssi", value, "gsmQuality");
});
set("CE", 4, "cell", ({ cell }, value) => {
  if (typeof value === "number") cell.cellId = value;
});
set("LC", 2, "locationArea", ({ cell }, value) => {
  if (typeof value === "number") cell.lac = value;
});
set("CN", 4, "network", ({ cell }, value) => {
  const digits = String(value);
  if (!/^\d{5,6}$/.test(digits)) return;
  cell.mcc = Number(digits.slice(0, 3));
  cell.mnc = Number(digits.slice(3));
});
plain("RL", 1, "rxLevel");
plain("GS", 1, "gsmStatus");
plain("NC", "text", "neighbours");
set("CR", 1, "registration", ({ report }, value) => {
  // 3GPP TS 27.007, +CREG: 1 home, 5 roaming.
  if (value === 1 || value === 5) report.readings.roaming = value === 5;
  else report.attributes.registration = value;
});
number("PC", 4, "counter1", "pulseCount");
set("AT", "i32", "gpsAltitude", (record, value) => {
  if (typeof value === "number" && value > -1e5 && value < 1e6) record.altitude = value;
});
set("DT", 1, "dataType", ({ report }, value) => {
  if (value === 1) report.attributes.archive = true;
});
plain("SM", 2, "maximumSpeed");
plain("GL", "text", "link");
plain("MA", "text", "macAddress");
plain("ME", 8, "imei");
plain("CM", 8, "imsi");
text("CD", "iccid", "simCard");
number("AV1", 2, "analog1", "AV1", 0.001);
plain("GN", "samples", "gSensorData");
set("GV", "axes", "gForce", ({ report }, value) => {
  const bytes = bytesOfHex(String(value));
  if (bytes?.length !== 6) return;
  const axes = new Reader(bytes);
  for (const name of ["accelerationX", "accelerationY", "accelerationZ"] as const)
    put(report, name, axes.i16() / 1000, "gForce");
});
set("SF", 1, "gpsStatus", (record, value) => {
  record.valid = value !== 0;
});
plain("CS", 1, "serverConnected");
plain("BT", 1, "bluetoothConnected");
alarm("JD", "jamming", "jamming");
alarm("HA", "hardAcceleration", "harshAcceleration");
alarm("HB", "hardBraking", "harshBraking");
alarm("HC", "hardCornering", "harshCornering");
flag("MT", 1, "motion", "moving");
flag("IN0", 1, "ignition", "in0");
flag("IN1", 1, "input1", "in1");
flag("IN2", 1, "input2", "in2");
flag("IN3", 1, "input3", "in3");
plain("EG", 1, "engineStatus");
plain("DL", 1, "idleStatus");
plain("TM", "unknown", "tpms");
set("BC", "unknown", "beacons", ({ report }, value) => readBeacons(report, String(value)));

// The engine by OBD-II.
text("VN", "vin", "vehicleNumber");
number("RP", 2, "rpm", "engineSpeed");
number("TR", 1, "throttle", "throttlePosition");
number("EL", 1, "engineLoad", "calculatedLoad");
number("ET", "i16", "coolantTemperature", "engineTemperature");
number("IA", "i8", "intakeTemperature", "intakeAir");
number("MP", 1, "intakePressure", "manifoldPressure");
number("MF", 2, "airFlow", "massAirFlow", 0.01);
number("FL", 1, "fuel", "fuelLevel");
number("FC", 4, "fuelUsed", "fuelConsumed", 0.1);
number("EH", 4, "engineSeconds", "engineHours", 360);
number("EO", 4, "odometer", "engineOdometer", kmPerMile);
number("OD", 4, "odometer", "vehicleOdometer", 0.1);
number("VS", "unknown", "vehicleSpeed", "obdSpeed");
flag("ML", 1, "engineLamp", "malfunctionLamp");
plain("PD", 1, "pendingCodes");
plain("OC", 1, "obdConnected");
plain("HT", "text", "health");

// The vehicle's bus, which has values of its own for what it does not know: J1708 (AT$1708).
bus("ZO4", 1, "throttle", "ZO4", 0.4);
bus("ZO6", 1, "vehicleSpeed", "ZO6", 0.805);
bus("ZO9", 1, "engineLoad", "ZO9", 0.5);
bus("ZO10", 1, "fuel", "ZO10", 0.5);
bus("ZO11", 1, "oilPressure", "ZO11", 3.45);
bus("ZO12", 1, "intakePressure", "ZO12", 0.862);
// Degrees Fahrenheit.
bus("ZO13", 1, "intakeTemperature", "ZO13", 1 / 1.8, -32 / 1.8);
bus("ZO14", 1, "coolantTemperature", "ZO14", 1 / 1.8, -32 / 1.8);
for (const key of ["ZO1", "ZO2", "ZO3", "ZO5", "ZO7", "ZO8", "ZO15", "ZO16", "ZO17"]) plain(key, 1, key);
// Steps of 17.792 N.
bus("ZH1", 2, "loadWeight", "ZH1", 17.792 / 9.80665);
// Steps of 16.428e-6 l/s.
bus("ZH2", 2, "fuelRate", "ZH2", 16.428e-6 * 3600);
bus("ZH3", 2, "rpm", "ZH3", 0.25);
plain("ZL1", 4, "ZL1");
bus("ZL2", 4, "odometer", "ZL2", 0.161);
plain("ZL3", 4, "ZL3");
bus("ZL4", 4, "engineSeconds", "ZL4", 180);
text("ZS1", "vin", "ZS1");

// J1939 (AT$FMSC).
for (const key of ["JO1", "JO2", "JO6", "JO7", "JO8", "JO9", "JO10", "JO12"]) plain(key, 1, key);
bus("JO3", 1, "throttle", "JO3", 0.4);
bus("JO4", 1, "engineLoad", "JO4");
bus("JO5", 1, "fuel", "JO5", 0.4);
bus("JO11", 1, "coolantTemperature", "JO11", 1, -40);
bus("JH1", 2, "vehicleSpeed", "JH1", 1 / 256);
bus("JH2", 2, "rpm", "JH2", 0.125);
bus("JH3", 2, "axleWeight1", "JH3", 0.5);
bus("JH4", 2, "axleWeight2", "JH4", 0.5);
bus("JH5", 2, "axleWeight3", "JH5", 0.5);
bus("JH6", 2, "axleWeight4", "JH6", 0.5);
bus("JH7", 2, "axleWeight5", "JH7", 0.5);
bus("JH8", 2, "serviceDistance", "JH8", 5, -160_635);
bus("JH9", 2, "vehicleSpeed", "JH9", 1 / 256);
bus("JH10", 2, "ambientTemperature", "JH10", 0.03125, -273);
bus("JH11", 2, "fuelRate", "JH11", 0.05);
plain("JH12", 2, "JH12");
bus("JL1", 4, "fuelUsed", "JL1", 0.5);
bus("JL2", 4, "engineSeconds", "JL2", 180);
bus("JL3", 4, "odometer", "JL3");
bus("JL4", 4, "fuelUsed", "JL4", 0.001);
text("JS1", "vin", "JS1");
plain("JS2", "text", "JS2");
text("JS3", "driverId", "JS3");
text("JS4", "driver2Id", "JS4");
bus("JN2", 4, "idleSeconds", "JN2", 180);
for (const key of ["JN1", "JN3", "JN4", "JN5"]) plain(key, 4, key);

/** A number from the bus: all bits set say that it is not there. */
function bus(key: string, form: 1 | 2 | 4, reading: NumberReading, name: string, step = 1, first = 0): void {
  const absent = 256 ** form - 1;
  set(key, form, name, ({ report }, value) => {
    if (typeof value !== "number" || value === absent) return;
    put(report, reading, Math.round((value * step + first) * 1e4) / 1e4, name);
  });
}

/** The field of a key; one that the table does not have is kept under its key. */
export function fieldOf(key: string): Field {
  return fields.get(key) ?? unknownField(key);
}

function unknownField(key: string): Field {
  return {
    form: "unknown",
    name: key,
    put({ report }, value) {
      report.attributes[key] = value;
    },
  };
}
