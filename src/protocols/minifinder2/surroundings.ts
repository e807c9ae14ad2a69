import { bit, type Reader } from "../../wire/reader.ts";
import { coordinates, type Group, macOf, textOf } from "./group.ts";

/** Cells of a network: signal, area, and the cell's number in two or four bytes. */
export function cells(group: Group, reader: Reader, mcc: number, mnc: number, width: 2 | 4): void {
  while (reader.remaining >= 3 + width) {
    const signal = reader.i8();
    const lac = reader.u16le();
    group.cells.push({ mcc, mnc, lac, cellId: width === 2 ? reader.u16le() : reader.u32le(), signal });
  }
}

/** Access points: signal, address, and their names where the key has them. */
export function accessPoints(group: Group, reader: Reader, named: boolean): void {
  while (reader.remaining >= 7) {
    const signal = reader.i8();
    group.wifi.push({ mac: reader.hex(6), signal });
    if (named && reader.remaining > 0) reader.skip(Math.min(reader.u8(), reader.remaining));
  }
}

/** A beacon whose place the device was told: address, place, name. */
export function place(group: Group, reader: Reader): void {
  const { attributes } = group.report;
  attributes.tagId = macOf(reader);
  if (reader.remaining >= 8) group.place = { valid: true, ...coordinates(reader) };
  if (reader.remaining > 0) attributes.description = textOf(reader);
}

/**
 * A beacon: its number and what follows (bit 7 a place, bit 6 a name), address, signal, signal at one metre, and of
 * newer devices battery and temperature.
 */
export function beacon(group: Group, reader: Reader, newer: boolean): void {
  const { attributes } = group.report;
  const flags = reader.u8();
  const name = `tag${(flags & 0x0f) + 1}`;
  attributes[`${name}Id`] = macOf(reader);
  attributes[`${name}Signal`] = reader.i8();
  attributes[`${name}SignalAtMetre`] = reader.i8();
  if (newer) attributes[`${name}Battery`] = reader.u8();
  if (bit(flags, 7) && reader.remaining >= 8) group.place = { valid: true, ...coordinates(reader) };
  if (bit(flags, 6) && reader.remaining > 0) {
    const length = newer ? Math.min(reader.u8(), reader.remaining) : reader.remaining;
    attributes[`${name}Description`] = textOf(reader, length);
  }
  // The one value that comes with its high byte first.
  if (newer && reader.remaining >= 2) attributes[`${name}Temperature`] = reader.i16() / 10;
}

/** An access point that the device was told of: bit 7 a place, bit 6 a name. */
export function wifiPlace(group: Group, reader: Reader): void {
  const flags = reader.u8();
  const mac = macOf(reader);
  group.wifi.push({ mac, signal: reader.i8() });
  if (bit(flags, 7) && reader.remaining >= 8) group.place = { valid: true, ...coordinates(reader) };
  if (bit(flags, 6) && reader.remaining > 0) group.report.attributes.description = textOf(reader);
}
