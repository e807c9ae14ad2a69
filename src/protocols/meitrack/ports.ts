import { bit } from "../../wire/reader.ts";
import { type Draft, put } from "../../wire/report.ts";

const inputs = ["input1", "input2", "input3", "input4", "input5", "input6", "input7", "input8"] as const;
const outputs = ["output1", "output2", "output3", "output4", "output5", "output6", "output7", "output8"] as const;
/** Ports that every model has; a higher one is given where it is set. */
const usual = 4;

/** Inputs, one a bit. */
export function putInputs(report: Draft, value: number): void {
  for (let index = 0; index < 8; index++)
    if (index < usual || bit(value, index)) report.readings[inputs[index] ?? "input1"] = bit(value, index);
}

/** Outputs, one a bit. */
export function putOutputs(report: Draft, value: number): void {
  for (let index = 0; index < 8; index++)
    if (index < usual || bit(value, index)) report.readings[outputs[index] ?? "output1"] = bit(value, index);
}

/** Volts of a step of the tracker's battery (AD4) and of the supply (AD5). */
interface Scale {
  readonly battery: number;
  readonly external: number;
}

const tenBits: Scale = { battery: (3 * 2) / 1024, external: (3 * 16) / 1024 };
const twelveBits: Scale = { battery: (3.3 * 2) / 4096, external: (3.3 * 16) / 4096 };
const hundredths: Scale = { battery: 0.01, external: 0.01 };

/** GPRS Protocol V1.7, 1.2, analog input value. */
const scales: ReadonlyMap<string, Scale> = new Map([
  ["MVT340", tenBits],
  ["MVT380", tenBits],
  ["MT90", twelveBits],
  ["T1", twelveBits],
  ["T3", twelveBits],
  ["MVT100", twelveBits],
  ["MVT600", twelveBits],
  ["MVT800", twelveBits],
  ["TC68", twelveBits],
  ["TC68S", twelveBits],
]);

/**
 * Puts the voltages of AD4 and AD5, whose scale depends on the model. Without the tag `model` the battery tells it:
 * cells have 3 to 4.5 V, and the ranges of the three scales are apart (hundredths 300 to 450, ten bits 512 to 768,
 * twelve bits 1861 to 2793).
 */
export function putVoltages(
  report: Draft,
  battery: number | undefined,
  external: number | undefined,
  model: string | undefined,
): void {
  const scale = scales.get(model?.toUpperCase() ?? "") ?? scaleOf(battery ?? 0);
  put(report, "batteryVoltage", volts(battery, scale.battery), "ad4");
  put(report, "externalVoltage", volts(external, scale.external), "ad5");
}

function scaleOf(battery: number): Scale {
  if (battery >= 1861 && battery <= 2793) return twelveBits;
  return battery >= 512 && battery <= 768 ? tenBits : hundredths;
}

function volts(value: number | undefined, step: number): number | undefined {
  return value === undefined ? undefined : Math.round(value * step * 100) / 100;
}

const temperatures = [
  "temperature",
  "temperature2",
  "temperature3",
  "temperature4",
  "temperature5",
  "temperature6",
  "temperature7",
  "temperature8",
] as const;

/** The temperature of a probe; 1 is the first. */
export function putTemperature(report: Draft, probe: number, value: number): void {
  const name = temperatures[Math.max(0, probe - 1)];
  if (name === undefined) report.attributes[`probe${probe}`] = value;
  else put(report, name, value, `probe${probe}`);
}
