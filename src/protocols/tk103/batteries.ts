import { bytesOfHex, Reader } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";

/** Degrees of a byte with an offset of 40. */
function celsius(byte: number): number {
  return byte - 40;
}

/**
 * BS51: the registers of a battery management system by Daly, `90:...,91:...`, each eight bytes or more, big-endian:
 * voltage and current 0.1, charge 0.1 %, cells mV, temperatures with an offset of 40. (Daly UART/485 Communications
 * Protocol 1.2)
 */
export function readRegisters(body: string, report: Draft): void {
  for (const part of body.split(",")) {
    const [number = "", hex = ""] = part.split(":");
    const bytes = bytesOfHex(hex);
    if (bytes === undefined || bytes.length < 8) continue;
    registers.get(number)?.(new Reader(bytes), report);
  }
}

const registers: ReadonlyMap<string, (reader: Reader, report: Draft) => void> = new Map([
  [
    "90",
    (reader, report) => {
      put(report, "tractionVoltage", reader.u16() / 10, "cumulativeVoltage");
      reader.skip(2);
      put(report, "tractionCurrent", (reader.u16() - 30_000) / 10, "batteryCurrent");
      put(report, "tractionBattery", reader.u16() / 10, "soc");
    },
  ],
  [
    "91",
    (reader, { attributes }) => {
      attributes.maxCellVoltage = reader.u16() / 1000;
      attributes.maxCellVoltageNumber = reader.u8();
      attributes.minCellVoltage = reader.u16() / 1000;
      attributes.minCellVoltageNumber = reader.u8();
    },
  ],
  [
    "92",
    (reader, { attributes }) => {
      attributes.maxBatteryTemperature = celsius(reader.u8());
      reader.skip(1);
      attributes.minBatteryTemperature = celsius(reader.u8());
    },
  ],
  [
    "93",
    (reader, { attributes }) => {
      attributes.batteryState = ["stationary", "charging", "discharging"][reader.u8()] ?? "unknown";
      attributes.chargingSwitch = reader.u8() !== 0;
      attributes.dischargingSwitch = reader.u8() !== 0;
      reader.skip(1);
      // mAh
      attributes.remainingCapacity = reader.u32();
    },
  ],
  [
    "94",
    (reader, { attributes }) => {
      attributes.cellCount = reader.u8();
      reader.skip(4);
      attributes.batteryCycles = reader.u16();
    },
  ],
  ["95", readCells],
  [
    "98",
    (reader, { attributes }) => {
      const faults = reader.hex(8);
      if (!/^0*$/.test(faults)) attributes.batteryFaults = faults;
    },
  ],
]);

/** Frames of three cells each: number, three voltages mV, a filling byte. The first frame's number may be lost. */
function readCells(reader: Reader, { attributes }: Draft): void {
  const voltages: number[] = [];
  while (reader.remaining >= 7) {
    reader.skip(1);
    for (let index = 0; index < 3; index++) voltages.push(reader.u16() / 1000);
    if (reader.remaining > 0) reader.skip(1);
  }
  if (voltages.length > 0) attributes.cellVoltages = voltages.join(",");
}

/** Cells that BS50 has places for, two bytes each, and where what follows stands. */
const cellPlaces = 24;

/**
 * BS50: another system's report in hexadecimal, little-endian: number of cells, their voltages, pack's voltage, charge,
 * cycles, temperatures, capacities.
 */
export function readPack(body: string, report: Draft): void {
  const bytes = bytesOfHex(body.length % 2 === 0 ? body : body.slice(0, -1));
  if (bytes === undefined || bytes.length < 86) {
    report.attributes.batteryPack = body;
    return;
  }
  const reader = new Reader(bytes, 3);
  const count = Math.min(reader.u8(), cellPlaces);
  const voltages = Array.from({ length: count }, (_, index) => at16(bytes, 4 + 2 * index) / 1000);
  if (count > 0) report.attributes.cellVoltages = voltages.join(",");
  put(report, "tractionVoltage", at16(bytes, 55) / 100, "packVoltage");
  put(report, "tractionBattery", bytes[57], "soc");
  report.attributes.batteryCycles = at16(bytes, 63);
  for (const [offset, name] of temperatures) report.attributes[name] = celsius(bytes[offset] ?? 40);
  report.attributes.calibrationCapacity = at16(bytes, 82) / 100;
  report.attributes.dischargeCapacity = at16(bytes, 84);
}

const temperatures = [
  [73, "powerTemperature"],
  [74, "equilibriumTemperature"],
  [75, "batteryTemperature1"],
  [76, "batteryTemperature2"],
] as const;

function at16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] ?? 0) + 256 * (bytes[offset + 1] ?? 0);
}
