import { bit } from "../../wire/reader.ts";
import type { Draft } from "../../wire/report.ts";

const pattern = /^[01][01][0-9A-F]{6}$/i;

/**
 * The vehicle's status, eight characters: main power (0: connected), ACC, three hexadecimal digits of inputs and
 * outputs, three of the fuel sensor (KX402, 2.3). What is none is kept as it is.
 */
export function readStatus(status: string, report: Draft): void {
  const { readings, attributes } = report;
  if (!pattern.test(status)) {
    if (status !== "") attributes.vehicleStatus = status;
    return;
  }
  const hex = (at: number): number => Number.parseInt(status[at] ?? "0", 16);
  readings.powerConnected = status[0] === "0";
  readings.ignition = status[1] === "1";
  const [first, second, third] = [hex(2), hex(3), hex(4)];
  readings.input2 = bit(first, 0);
  if (bit(first, 1)) attributes.panic = true;
  readings.output2 = bit(first, 2);
  readings.blocked = bit(first, 3);
  readings.doorOpen = bit(second, 3);
  // Detectors that are active at a high and at a low level.
  for (let index = 0; index < 3; index++) {
    if (bit(second, index)) attributes[`hs${3 - index}`] = true;
    if (bit(third, index + 1)) attributes[`ls${3 - index}`] = true;
  }
  const fuel = Number.parseInt(status.slice(5), 16);
  // The sensor's own number; trackers without one send 0.
  if (fuel !== 0) attributes.fuelSensor = fuel;
}

/** The status in eight characters: what `readStatus` reads. */
export function statusOf(readings: Draft["readings"]): string {
  const first =
    Number(readings.input2 ?? false) + 4 * Number(readings.output2 ?? false) + 8 * Number(readings.blocked ?? false);
  const power = readings.powerConnected === false ? 1 : 0;
  return `${power}${Number(readings.ignition ?? false)}${first.toString(16).toUpperCase()}${readings.doorOpen ? 8 : 0}0000`;
}
