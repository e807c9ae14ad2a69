import type { NumberReading } from "../../model/readings.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";
import { asciiText } from "./text.ts";

/** Reading, divisor and offset of a parameter of 0xF0 with content 1 ("OBD data flow"). */
const parameters: Readonly<Record<number, readonly [NumberReading, divisor: number, offset: number]>> = {
  258: ["odometer", 10, 0],
  259: ["fuelVolume", 100, 0],
  261: ["fuelUsed", 100, 0],
  273: ["fuelTemperature", 1, -40],
  330: ["fuelConsumption", 100, 0],
  1320: ["odometer", 10, 0],
  1322: ["fuelVolume", 100, 0],
  1323: ["fuel", 1, 0],
  1324: ["fuelUsed", 100, 0],
  1325: ["coolantTemperature", 1, -40],
  1326: ["ambientTemperature", 1, -40],
  1328: ["externalVoltage", 1000, 0],
  1333: ["vehicleSpeed", 10, 0],
  1334: ["rpm", 1, 0],
  1335: ["fuelConsumption", 100, 0],
  1336: ["fuelConsumption", 100, 0],
  1337: ["fuelConsumption", 100, 0],
  1341: ["intakePressure", 10, 0],
  1350: ["odometer", 10, 0],
  1351: ["throttle", 1, 0],
  1352: ["throttle", 1, 0],
};

const vin = 0xfeec;

/** Parameters after their ids (two bytes) and lengths (one). Those without a reading are kept by their ids. */
export function readParameters(reader: Reader, report: Draft): void {
  const count = reader.u8();
  for (let index = 0; index < count && reader.remaining >= 3; index++) {
    const id = reader.u16();
    const length = reader.u8();
    const next = reader.offset + length;
    const name = `obd0x${id.toString(16).padStart(4, "0")}`;
    if (id === vin) report.readings.vin = asciiText(reader, length);
    else if (length === 1 || length === 2 || length === 4) {
      const value = length === 1 ? reader.u8() : length === 2 ? reader.u16() : reader.u32();
      const [reading, divisor, offset] = parameters[id] ?? [];
      if (reading === undefined || divisor === undefined || offset === undefined) report.attributes[name] = value;
      else put(report, reading, value / divisor + offset, name);
    }
    reader.seek(next);
  }
}
