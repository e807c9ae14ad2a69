import { latin1Of, type Reader } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";
import { asciiText } from "./text.ts";

type Field = (reader: Reader, report: Draft, length: number) => void;

/** Items behind 0x80 of trackers with OBD (Huabao and its clones, "OBD data"). */
const extension: Readonly<Record<number, Field>> = {
  1: (reader, report) => put(report, "odometer", reader.u32() / 10, "mileage"),
  2: (reader, report) => put(report, "fuelVolume", reader.u16() / 10, "fuelQuantity"),
  3: (reader, report) => put(report, "vehicleSpeed", reader.u16() / 10, "recorderSpeed"),
  86: (reader, report) => {
    report.attributes.powerLevel = reader.u8();
    put(report, "battery", reader.u8(), "batteryLevel");
  },
  97: (reader, report) => put(report, "externalVoltage", reader.u16() / 100, "mainPower"),
  105: (reader, report) => put(report, "batteryVoltage", reader.u16() / 100, "batteryPower"),
  128: (reader, report) => put(report, "vehicleSpeed", reader.u8(), "obdSpeed"),
  129: (reader, report) => put(report, "rpm", reader.u16(), "engineSpeed"),
  130: (reader, report) => put(report, "externalVoltage", reader.u16() / 10, "vehicleVoltage"),
  131: (reader, report) => put(report, "engineLoad", reader.u8(), "obdLoad"),
  132: (reader, report) => put(report, "coolantTemperature", reader.u8() - 40, "obdCoolant"),
  133: (reader, report) => {
    report.attributes.instantConsumption = reader.u16();
  },
  134: (reader, report) => put(report, "intakeTemperature", reader.u8() - 40, "obdIntake"),
  // Parameter 0x10 of SAE J1979: 0.01 g/s.
  135: (reader, report) => put(report, "airFlow", reader.u16() / 100, "obdAirFlow"),
  136: (reader, report) => put(report, "intakePressure", reader.u8(), "obdIntakePressure"),
  137: (reader, report) => put(report, "throttle", reader.u8(), "obdThrottle"),
  139: (reader, report, length) => {
    const vin = asciiText(reader, length);
    if (vin !== "") report.readings.vin = vin;
  },
  140: (reader, report) => put(report, "odometer", reader.u32() / 10, "obdOdometer"),
  141: (reader, report) => put(report, "tripOdometer", reader.u16(), "obdTrip"),
  142: (reader, report) => put(report, "fuel", reader.u8(), "obdFuel"),
  160: (reader, report, length) => {
    const codes = asciiText(reader, length).replaceAll(",", " ").trim();
    if (codes !== "") report.readings.dtcs = codes;
  },
  204: (reader, report, length) => {
    const card = asciiText(reader, length);
    if (card !== "") report.readings.iccid = card;
  },
};

/** Reads the items of the OBD extension up to the end of the report. */
export function readObdExtension(reader: Reader, report: Draft): void {
  readFields(reader, report, extension, 1, reader.offset + reader.remaining);
}

/** Fields of an id of one or two bytes, a length of one and a value. */
function readFields(
  reader: Reader,
  report: Draft,
  fields: Readonly<Record<number, Field>>,
  idSize: 1 | 2,
  end: number,
): void {
  while (reader.offset + idSize + 1 <= end) {
    const id = idSize === 1 ? reader.u8() : reader.u16();
    const length = reader.u8();
    const next = reader.offset + length;
    if (next > end) break;
    const field = fields[id];
    if (field !== undefined && length > 0) {
      try {
        field(reader, report, length);
      } catch {
        // A value shorter than its field is; the others count all the same.
      }
    } else if (length > 0) report.attributes[`obd0x${id.toString(16).padStart(idSize * 2, "0")}`] = reader.hex(length);
    reader.seek(next);
  }
}

/** 0xF3 "OBD data" (Vehicle terminals with OBD, extended items): ids of two bytes. */
const obdItems: Readonly<Record<number, Field>> = {
  2: (reader, report) => put(report, "vehicleSpeed", reader.u16() / 10, "obdSpeed"),
  3: (reader, report) => put(report, "rpm", reader.u16(), "engineSpeed"),
  4: (reader, report) => put(report, "externalVoltage", reader.u16() / 1000, "obdVoltage"),
  5: (reader, report) => put(report, "odometer", reader.u32() / 10, "obdOdometer"),
  6: (reader, report) => {
    report.attributes.instantConsumption = reader.u16() / 10;
  },
  7: (reader, report) => put(report, "fuelConsumption", reader.u16() / 10, "averageConsumption"),
  8: (reader, report) => put(report, "engineLoad", reader.u16() / 10, "obdLoad"),
  9: (reader, report) => put(report, "coolantTemperature", reader.u16() - 40, "obdCoolant"),
  11: (reader, report) => put(report, "intakePressure", reader.u16(), "obdIntakePressure"),
  12: (reader, report) => put(report, "intakeTemperature", reader.u16() - 40, "obdIntake"),
  13: (reader, report) => put(report, "airFlow", reader.u16(), "obdAirFlow"),
  14: (reader, report) => put(report, "throttle", Math.floor((reader.u16() * 100) / 255), "obdThrottle"),
  80: (reader, report, length) => {
    report.readings.vin = asciiText(reader, length);
  },
  81: (reader, report, length) => {
    report.attributes.cvn = reader.hex(length);
  },
  82: (reader, report, length) => {
    const text = asciiText(reader, length);
    if (text !== "") report.attributes.calibrationId = text;
  },
  256: (reader, report) => put(report, "tripOdometer", reader.u16() / 10, "obdTrip"),
  258: (reader, report) => {
    report.attributes.tripFuel = reader.u16() / 10;
  },
  274: (reader, report) => {
    report.attributes.hardAccelerations = reader.u16();
  },
  275: (reader, report) => {
    report.attributes.hardBrakings = reader.u16();
  },
  276: (reader, report) => {
    report.attributes.hardCornerings = reader.u16();
  },
};

/** Reads the OBD items of a 0xF3. */
export function readObdItems(reader: Reader, report: Draft, length: number): void {
  readFields(reader, report, obdItems, 2, reader.offset + length);
}

/** `$OBD-RT,<voltage>,<rpm>,...`: values by their place ("OBD real-time data stream"); an empty one was not read. */
export function readObdText(bytes: Uint8Array, report: Draft): void {
  const values = latin1Of(bytes).trim().split(",");
  const at = (index: number) => {
    const text = values[index]?.trim();
    return text === undefined || !/^-?\d{1,9}(\.\d{1,6})?$/.test(text) ? undefined : Number(text) + 0;
  };
  put(report, "externalVoltage", at(1), "obdVoltage");
  put(report, "rpm", at(2), "engineSpeed");
  put(report, "vehicleSpeed", at(3), "obdSpeed");
  put(report, "throttle", at(4), "obdThrottle");
  put(report, "engineLoad", at(5), "obdLoad");
  put(report, "coolantTemperature", at(6), "obdCoolant");
  const instant = at(7);
  if (instant !== undefined) report.attributes.instantConsumption = instant;
  put(report, "fuelConsumption", at(8), "averageConsumption");
  put(report, "tripOdometer", at(9), "obdTrip");
  put(report, "odometer", at(10), "obdOdometer");
  const trip = at(11);
  if (trip !== undefined) report.attributes.tripFuel = trip;
  put(report, "fuelUsed", at(12), "obdFuelUsed");
}
