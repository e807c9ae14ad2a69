import type { MessageKey, MessageRow } from "../../wire/protocol.ts";
import { readAsset, readGeofences, readLock, readSubLock, readTemperatures, readWifiAsset } from "./asset.ts";
import { envelopeOf, readBlocks } from "./blocks.ts";
import { readAnswer } from "./command.ts";
import { readHeartbeat, readLogin } from "./login.ts";
import { readAccident, readDiagnosis, readGpsBehavior, readObdVehicle, readSensorBehavior } from "./obd.ts";
import { family, handler, headLength, type Read, type T800xSession } from "./packet.ts";
import { readNetwork, readOneWire, readRs232, readRs485, readWifi } from "./serial.ts";
import { readPlacedTags, readTagData } from "./tags.ts";
import { readSecond, readVehicle } from "./vehicle.ts";

const { old, vehicle, obd, asset } = family;

/** A message's type behind its family. */
function keyOf(of: number, type: number): number {
  return (of << 8) | type;
}

/** Family and type; undefined: the frame begins with no header. */
export function classify(frame: Uint8Array): MessageKey | undefined {
  const [first = 0, second, type] = frame;
  return first === second && type !== undefined && frame.length >= headLength ? keyOf(first, type) : undefined;
}

function row(
  name: string,
  families: readonly number[],
  types: readonly number[],
  read: Read,
): MessageRow<T800xSession> {
  return {
    name,
    keys: families.flatMap((of) => types.map((type) => keyOf(of, type))),
    handle: handler(read),
  };
}

const blocksRow: MessageRow<T800xSession> = {
  name: "0x62, 0x64: location and alarm in blocks",
  keys: [obd, asset].flatMap((of) => [keyOf(of, 0x62), keyOf(of, 0x64)]),
  handle(frame, session, context) {
    return handler((packet) => {
      const envelope = envelopeOf(packet);
      if (envelope.encrypted) return [{ type: "failure", cause: "unsupported" }];
      // A length cut short is malformed before its checksum is wrong: the length is not under it.
      const effects = readBlocks(packet, envelope);
      if (envelope.summed || context.options.checksums === "ignore") return effects;
      return [{ type: "failure", cause: "badChecksum", ids: [packet.imei] }];
    })(frame, session, context);
  },
};

const all = [old, vehicle, obd, asset];

/** All messages. */
export const rows: readonly MessageRow<T800xSession>[] = [
  row("0x01: login", all, [0x01], readLogin),
  row("0x03: heartbeat", all, [0x03], readHeartbeat),
  row("0x81: answer to a command", all, [0x81], readAnswer),
  row("0x02, 0x04, 0x16, 0x18: location and alarm of vehicles", [old, vehicle], [0x02, 0x04, 0x16, 0x18], readVehicle),
  row(
    "0x13, 0x14, 0x33, 0x34: location and alarm of TLW2 and PioneerX",
    [vehicle],
    [0x13, 0x14, 0x33, 0x34],
    readSecond,
  ),
  row("0x02, 0x04, 0x16, 0x18: location and alarm with OBD", [obd], [0x02, 0x04, 0x16, 0x18], readObdVehicle),
  row("0x02, 0x04: location and alarm of assets", [asset], [0x02, 0x04], readAsset),
  row("0x24, 0x25: location and alarm of assets with Wi-Fi", [asset], [0x24, 0x25], readWifiAsset),
  blocksRow,
  row("0x05: behavior of the driver by GPS", [vehicle, obd], [0x05], readGpsBehavior),
  row("0x06: behavior of the driver by the sensor", [vehicle, obd], [0x06], readSensorBehavior),
  row("0x07: accident", [vehicle, obd], [0x07], readAccident),
  {
    ...row("0x09, 0x22: trouble codes and VIN", [], [], readDiagnosis),
    keys: [keyOf(obd, 0x09), keyOf(vehicle, 0x22)],
  },
  row("0x09: serial port RS-232", [vehicle], [0x09], readRs232),
  row("0x21: serial port RS-485", [vehicle], [0x21], readRs485),
  row("0x23: 1-Wire", [vehicle], [0x23], readOneWire),
  row("0x10: tags", [vehicle, obd, asset], [0x10], readTagData),
  row("0x12: tags with a place", [vehicle, obd, asset], [0x12], readPlacedTags),
  {
    ...row("0x05, 0x11: network", [], [], readNetwork),
    keys: [keyOf(asset, 0x05), keyOf(vehicle, 0x11), keyOf(obd, 0x11)],
  },
  row("0x15: Wi-Fi", [vehicle, obd, asset], [0x15], readWifi),
  row("0x17: lock", [asset], [0x17], readLock),
  row("0x27: bound lock", [asset], [0x27], readSubLock),
  row("0x20: geofences", [asset], [0x20], readGeofences),
  row("0x26: samples of temperature", [asset], [0x26], readTemperatures),
];
