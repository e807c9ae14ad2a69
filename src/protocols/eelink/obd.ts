import type { NumberReading } from "../../model/readings.ts";
import type { Reader } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";

/** A parameter of OBD: how many of its four bytes, from the first one on, are the value, and what a step of it is. */
interface Parameter {
  readonly reading: NumberReading;
  readonly bytes: 1 | 2 | 4;
  readonly step: number;
  readonly first: number;
}

function parameter(reading: NumberReading, bytes: Parameter["bytes"], step = 1, first = 0): Parameter {
  return { reading, bytes, step, first };
}

/**
 * SAE J1979, mode 01, and what the tracker counts itself (from 0x88 on). (Terminal Communication Protocol V1.8.4, OBD
 * package)
 */
const parameters: ReadonlyMap<number, Parameter> = new Map([
  [0x04, parameter("engineLoad", 1, 100 / 255)],
  [0x05, parameter("coolantTemperature", 1, 1, -40)],
  [0x0b, parameter("intakePressure", 1)],
  [0x0c, parameter("rpm", 2, 0.25)],
  [0x0d, parameter("vehicleSpeed", 1)],
  [0x0f, parameter("intakeTemperature", 1, 1, -40)],
  [0x10, parameter("airFlow", 2, 0.01)],
  [0x11, parameter("throttle", 1, 100 / 255)],
  [0x23, parameter("fuelPressure", 2, 10)],
  [0x2f, parameter("fuel", 1, 100 / 255)],
  [0x46, parameter("ambientTemperature", 1, 1, -40)],
  [0x5c, parameter("oilTemperature", 1, 1, -40)],
  [0x5e, parameter("fuelRate", 2, 0.05)],
  [0x8a, parameter("odometer", 4)],
  [0x8b, parameter("fuelVolume", 4, 0.1)],
]);

/** Monitor status: the lamp and the number of trouble codes. */
const monitorStatus = 0x01;

/** A list of parameters: an identifier and four bytes each. */
export function readParameters(reader: Reader, report: Draft): void {
  while (reader.remaining >= 5) {
    const pid = reader.u8();
    const value = reader.u32();
    const known = parameters.get(pid);
    const name = `pid${pid.toString(16).padStart(2, "0").toUpperCase()}`;
    if (known !== undefined) {
      const raw = known.bytes === 4 ? value : value >>> (32 - 8 * known.bytes);
      put(report, known.reading, Math.round((raw * known.step + known.first) * 100) / 100, name);
    } else if (pid === monitorStatus) {
      report.readings.engineLamp = value >>> 31 === 1;
      put(report, "dtcCount", (value >>> 24) & 0x7f, name);
      // The lists of parameters that the vehicle knows say nothing of it.
    } else if ((pid & 0x1f) !== 0) report.attributes[name] = value;
  }
}
