import { bit, bytesOfHex, Reader } from "../../wire/reader.ts";
import type { Draft } from "../../wire/report.ts";

/** Length of a beacon's data with MAC, mask, temperature, battery, signal and transmit power. */
const sensorLength = 13;

const mostBeacons = 32;

/** A value of a beacon: the bit of the mask that says that it is there, its name, and its bytes. */
type Part = readonly [bit: number, name: string, bytes: 1 | 2];

/** What a beacon tells after its MAC (bit 7), by its kind: iBeacon, Eddystone, sensor. */
const parts: ReadonlyMap<string, readonly Part[]> = new Map([
  [
    "1",
    [
      [6, "Major", 2],
      [5, "Minor", 2],
      [4, "TxPower", 1],
      [3, "Rssi", 1],
    ],
  ],
  [
    "2",
    [
      [6, "Battery_mV", 2],
      [5, "RawTemperature", 2],
      [4, "TxPower", 1],
      [3, "Rssi", 1],
    ],
  ],
  [
    "3",
    [
      [6, "RawHumidity", 2],
      [5, "RawTemperature", 2],
      [3, "Rssi", 1],
      [2, "Battery_mV", 2],
    ],
  ],
]);

/**
 * %BC, beacons that the tracker hears: `kind:mask:hex`, where one mask says what each tells; or in hex a length and as
 * many bytes of each. What does not add up is kept as it is.
 */
export function readBeacons(report: Draft, text: string): void {
  const found: { [name: string]: string | number } = {};
  const [kind = "", mask, hex] = text.split(":");
  const reader = new Reader(bytesOfHex(hex ?? kind) ?? new Uint8Array(0));
  const known = parts.get(kind);
  try {
    for (let index = 1; reader.remaining > 0; index++) {
      if (index > mostBeacons) throw new RangeError("more beacons than a tracker hears");
      if (hex === undefined) readSensor(reader, `beacon${index}`, found);
      else if (known === undefined || !/^\d{1,3}$/.test(mask ?? ""))
        throw new RangeError("a kind of beacon that is not known");
      else readMasked(reader, known, Number(mask), `beacon${index}`, found);
    }
  } catch {
    report.attributes.beacons = text;
    return;
  }
  if (reader.offset === 0) report.attributes.beacons = text;
  Object.assign(report.attributes, found);
}

/** Length, MAC, a mask, temperature (0.01 °C), battery (mV), signal and transmit power (dBm). */
function readSensor(reader: Reader, name: string, found: { [name: string]: string | number }): void {
  if (reader.u8() !== sensorLength) throw new RangeError("a length of beacons that is not known");
  found[`${name}Mac`] = reader.hex(6);
  reader.skip(1);
  found[`${name}Temperature`] = reader.i16() / 100;
  found[`${name}BatteryVoltage`] = reader.u16() / 1000;
  found[`${name}Rssi`] = reader.i8();
  found[`${name}TxPower`] = reader.i8();
}

function readMasked(
  reader: Reader,
  known: readonly Part[],
  mask: number,
  name: string,
  found: { [name: string]: string | number },
): void {
  const before = reader.offset;
  if (bit(mask, 7)) found[`${name}Mac`] = reader.hex(6);
  for (const [index, part, bytes] of known)
    if (bit(mask, index)) found[`${name}${part}`] = bytes === 1 ? reader.i8() : reader.u16();
  if (reader.offset === before) throw new RangeError("a mask of nothing");
}
