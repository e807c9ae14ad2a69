import { type Draft, put } from "../../wire/report.ts";
import { hexOf, numberOf } from "../../wire/text.ts";
import { keep, keepNumber } from "./sentence.ts";

/** States of motion. (GV300, +RESP:GTSTT, "State") */
const states: ReadonlyMap<number, { readonly ignition?: boolean; readonly motion: boolean; readonly tow?: true }> =
  new Map([
    [0x11, { ignition: false, motion: false }],
    [0x12, { ignition: false, motion: true }],
    [0x16, { ignition: false, motion: true, tow: true }],
    [0x1a, { ignition: false, motion: true }],
    [0x21, { ignition: true, motion: false }],
    [0x22, { ignition: true, motion: true }],
    [0x41, { motion: false }],
    [0x42, { motion: true }],
  ]);

/** The state of motion; `undefined` where the code is none. */
export function stateOf(text: string | undefined) {
  return states.get(hexOf(text) ?? -1);
}

/** State of motion as ignition and motion. */
export function readState(report: Draft, text: string | undefined): void {
  const state = stateOf(text);
  if (state === undefined) keep(report, "state", text);
  if (state?.ignition !== undefined) report.readings.ignition = state.ignition;
  if (state !== undefined) report.readings.motion = state.motion;
}

/** Digital inputs; bit 0 is the ignition line. */
export function readInputs(report: Draft, inputs: number): void {
  report.readings.input1 = (inputs & 2) !== 0;
  report.readings.input2 = (inputs & 4) !== 0;
  report.readings.input3 = (inputs & 8) !== 0;
}

/** Digital outputs, bit 0 the first. */
export function readOutputs(report: Draft, outputs: number): void {
  report.readings.output1 = (outputs & 1) !== 0;
  report.readings.output2 = (outputs & 2) !== 0;
  report.readings.output3 = (outputs & 4) !== 0;
}

/**
 * Whether a field looks like a device status: state, inputs, outputs, with four more digits in front in newer devices.
 */
export function isStatus(text: string | undefined): text is string {
  return text !== undefined && (text.length === 6 || text.length === 10) && /^[0-9A-Fa-f]+$/.test(text);
}

/** Device status: the last six digits are state of motion, inputs and outputs; some devices give the state alone. */
export function readStatus(report: Draft, text: string | undefined): void {
  if (isStatus(text)) {
    readState(report, text.slice(-6, -4));
    readInputs(report, Number.parseInt(text.slice(-4, -2), 16));
    readOutputs(report, Number.parseInt(text.slice(-2), 16));
    if (text.length === 10) report.attributes.deviceStatus = text;
  } else if (stateOf(text) !== undefined) readState(report, text);
  else keep(report, "deviceStatus", text);
}

const analogNames = ["analog1", "analog2", "analog3", "analog4"] as const;

/** Analogue input in mV, or `F` and the percentage of a fuel sensor. */
export function readAnalog(report: Draft, index: number, text: string | undefined): void {
  const name = analogNames[index];
  if (text?.startsWith("F") === true)
    put(report, index === 0 ? "fuel" : "fuel2", numberOf(text.slice(1)), `analogFuel${index + 1}`);
  else if (name !== undefined) put(report, name, thousandth(text), `analogInput${index + 1}`);
}

/** A number of thousandths: mV to V. */
export function thousandth(text: string | undefined): number | undefined {
  const value = numberOf(text);
  return value === undefined ? undefined : value / 1000;
}

/** `HHHHH:MM:SS`: time that the engine ran. */
export function readHours(report: Draft, text: string | undefined): void {
  const [hours, minutes, seconds, ...rest] = (text ?? "").split(":").map(numberOf);
  if (hours === undefined || hours > 1e7 || rest.length > 0) keep(report, "hourMeter", text);
  else put(report, "engineSeconds", hours * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0), "hourMeter");
}

/** Strength of the mobile signal, 0 to 31: -113 dBm and 2 dB a step; 99 is unknown. LTE devices count up to 97. */
export function readSignal(report: Draft, text: string | undefined): void {
  const value = numberOf(text);
  if (value === undefined || value === 99) return;
  if (value >= 0 && value <= 31) put(report, "rssi", value * 2 - 113, "csqRssi");
  else keepNumber(report, "csqRssi", text);
}
