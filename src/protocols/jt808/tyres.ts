import type { ReadingName } from "../../model/readings.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";

/** Readings of the temperature probes, in their order. */
export const temperatureNames = [
  "temperature",
  "temperature2",
  "temperature3",
  "temperature4",
  "temperature5",
  "temperature6",
  "temperature7",
  "temperature8",
] as const satisfies readonly ReadingName[];

const pressures = [
  "tyrePressure1",
  "tyrePressure2",
  "tyrePressure3",
  "tyrePressure4",
  "tyrePressure5",
  "tyrePressure6",
  "tyrePressure7",
  "tyrePressure8",
  "tyrePressure9",
  "tyrePressure10",
  "tyrePressure11",
  "tyrePressure12",
  "tyrePressure13",
  "tyrePressure14",
  "tyrePressure15",
  "tyrePressure16",
] as const satisfies readonly ReadingName[];

const temperatures = [
  "tyreTemperature1",
  "tyreTemperature2",
  "tyreTemperature3",
  "tyreTemperature4",
  "tyreTemperature5",
  "tyreTemperature6",
  "tyreTemperature7",
  "tyreTemperature8",
  "tyreTemperature9",
  "tyreTemperature10",
  "tyreTemperature11",
  "tyreTemperature12",
  "tyreTemperature13",
  "tyreTemperature14",
  "tyreTemperature15",
  "tyreTemperature16",
] as const satisfies readonly ReadingName[];

/** 0x77 "Tyre pressure": number, sensor, pressure (ten bits, 1/40 bar), temperature less 50, state. */
export function readTyres(reader: Reader, report: Draft, _scene: unknown, length: number): void {
  const end = reader.offset + length;
  while (reader.offset + 8 <= end) {
    const number = reader.u8();
    report.attributes[`tyre${number}Sensor`] = reader.hex(3);
    const pressure = (reader.u16() & 0x3ff) * 2.5;
    const temperature = reader.u8() - 50;
    report.attributes[`tyre${number}State`] = reader.u8();
    const [pressureName, temperatureName] = [pressures[number - 1], temperatures[number - 1]];
    if (pressureName === undefined || temperatureName === undefined) continue;
    put(report, pressureName, pressure, `tyre${number}Pressure`);
    put(report, temperatureName, temperature, `tyre${number}Temperature`);
  }
}
