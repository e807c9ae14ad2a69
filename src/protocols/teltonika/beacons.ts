import { bit, latin1Of, Reader } from "../../wire/reader.ts";
import type { MutableAttributes, Sink } from "./elements.ts";

/**
 * AVL 385, "Beacon": a byte that counts the parts of the list, then for each beacon a byte of flags (bit 5: iBeacon,
 * else Eddystone; bit 0: signal strength follows) and its identity. A list that does not add up is kept as hex.
 */
export function beaconList(bytes: Uint8Array, sink: Sink): void {
  const found: MutableAttributes = {};
  try {
    const reader = new Reader(bytes);
    reader.skip(1);
    for (let index = 1; reader.remaining > 0; index++) {
      const flags = reader.u8();
      const name = `beacon${index}`;
      if (bit(flags, 5)) {
        found[`${name}Uuid`] = reader.hex(16);
        found[`${name}Major`] = reader.u16();
        found[`${name}Minor`] = reader.u16();
      } else {
        found[`${name}Namespace`] = reader.hex(10);
        found[`${name}Instance`] = reader.hex(6);
      }
      if (bit(flags, 0)) found[`${name}Rssi`] = reader.i8();
    }
    Object.assign(sink.attributes, found);
  } catch {
    sink.attributes.beacon = bytes.toHex();
  }
}

/**
 * AVL 548, "Advanced BLE Beacon data", and 11317, "EYE Sensor List": a byte that counts the parts, then for each device
 * its length and parameters (id, length, value). A list that does not add up is kept as hex.
 */
export function sensorList(bytes: Uint8Array, sink: Sink): void {
  const found: MutableAttributes = {};
  try {
    const reader = new Reader(bytes);
    reader.skip(1);
    for (let index = 1; reader.remaining > 0; index++) {
      const device = new Reader(reader.take(reader.u8()));
      while (device.remaining > 0) {
        const id = device.u8();
        parameter(id, new Reader(device.take(device.u8())), `beacon${index}`, found);
      }
    }
    Object.assign(sink.attributes, found);
  } catch {
    sink.attributes.advancedBeacon = bytes.toHex();
  }
}

function parameter(id: number, value: Reader, name: string, found: MutableAttributes): void {
  if (id === 0) found[`${name}Rssi`] = value.i8();
  else if (id === 1) found[`${name}Id`] = value.hex(value.remaining);
  else if (id === 2) sensorData(value, name, found);
  else if (id === 5) found[`${name}Name`] = latin1Of(value.take(value.remaining)).replaceAll("\0", "");
  else if (id === 6) found[`${name}Temperature`] = value.i16() / 100;
  else if (id === 7) found[`${name}Humidity`] = value.u8();
  else if (id === 14) found[`${name}BatteryVoltage`] = value.u16() / 1000;
  else if (id === 15) found[`${name}Mac`] = value.hex(6);
  else found[`${name}Parameter${id}`] = value.hex(value.remaining);
}

/** "EYE sensor Bluetooth frame": a byte of flags says which values follow. */
function sensorData(value: Reader, name: string, found: MutableAttributes): void {
  const flags = value.u8();
  if (bit(flags, 0)) found[`${name}Temperature`] = value.i16() / 100;
  if (bit(flags, 1)) found[`${name}Humidity`] = value.u8();
  if (bit(flags, 2)) found[`${name}Magnet`] = bit(flags, 3);
  if (bit(flags, 4)) {
    const movement = value.u16();
    found[`${name}Moving`] = bit(movement, 15);
    found[`${name}MovementCount`] = movement & 0x7fff;
  }
  if (bit(flags, 5)) {
    found[`${name}Pitch`] = value.i8();
    found[`${name}Roll`] = value.i16();
  }
  if (bit(flags, 6)) found[`${name}LowBattery`] = true;
  // The EYE's battery starts at 2 V; a step is 10 mV.
  if (bit(flags, 7)) found[`${name}BatteryVoltage`] = (2000 + value.u8() * 10) / 1000;
}
