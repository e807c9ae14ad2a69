import { bytesOfHex, Reader } from "../../wire/reader.ts";
import type { Draft } from "../../wire/report.ts";

/** Length of a beacon's data with MAC, mask, temperature, battery, signal and transmit power. */
const sensorLength = 13;

/**
 * %BC, beacons that the tracker hears: of each its length, MAC, a mask and what that says: temperature (0.01 °C),
 * battery (mV), signal strength and
 * transmit power (dBm). Others are kept as hex.
 */
export function readBeacons(report: Draft, text: string): void {
  const bytes = bytesOfHex(text);
  if (bytes === undefined) {
    report.attributes.beacons = text;
    return;
  }
  const reader = new Reader(bytes);
  for (let index = 1; reader.remaining > 0; index++) {
    const name = `beacon${index}`;
    const length = reader.u8();
    if (length !== sensorLength || reader.remaining < length) {
      report.attributes.beacons = text;
      return;
    }
    report.attributes[`${name}Mac`] = reader.hex(6);
    reader.skip(1);
    report.attributes[`${name}Temperature`] = reader.i16() / 100;
    report.attributes[`${name}BatteryVoltage`] = reader.u16() / 1000;
    report.attributes[`${name}Rssi`] = reader.i8();
    report.attributes[`${name}TxPower`] = reader.i8();
  }
}
