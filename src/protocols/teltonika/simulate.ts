import type { SimulatedDevice, SimulatedReport } from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { type AvlRecord, codec8Packet, dataPacket, login } from "./encode.ts";

/** What an FMB tracker with its usual elements sends for a report: eleven IO elements. */
function recordOf(report: SimulatedReport): AvlRecord {
  return {
    time: report.time,
    longitude: Math.round(report.longitude * 1e7),
    latitude: Math.round(report.latitude * 1e7),
    altitude: Math.round(report.altitude),
    angle: Math.round(report.course) % 360,
    satellites: report.satellites,
    speed: Math.round(report.speed),
    one: [
      [239, report.ignition ? 1 : 0],
      [240, report.speed > 0 ? 1 : 0],
      [21, 4],
      [200, 0],
      [69, 1],
      [113, Math.round(report.battery)],
    ],
    two: [
      [181, 14],
      [182, 8],
      [66, report.ignition ? 14_100 : 12_600],
      [67, 4_000],
    ],
    four: [[241, 24_701]],
  };
}

/** What the server's bytes mean to a tracker: 01 after the login, four bytes of count after a packet, or a command. */
function answer(bytes: Uint8Array): ReturnType<NonNullable<SimulatedDevice["answer"]>> {
  if (bytes.length === 0) return "more";
  if (bytes[0] === 1) return { length: 1, accepted: true, reports: 0 };
  if (bytes.length < 4) return "more";
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reports = view.getUint32(0);
  if (reports > 0) return { length: 4, accepted: true, reports };
  // Four zero bytes are the preamble of a command; Waybeam never says that it took no record.
  if (bytes.length < 8) return "more";
  const length = 12 + view.getUint32(4);
  return bytes.length < length ? "more" : { length, accepted: true, reports: 0 };
}

/** "Codec 12": a packet of type 5 with a command is answered by one of type 6: `<command> OK`. */
function obey(message: Uint8Array): Uint8Array | undefined {
  if (message.length < 20 || message[0] !== 0 || message[8] !== 12 || message[10] !== 5) return undefined;
  const command = latin1Of(message.subarray(15, message.length - 5));
  return dataPacket(12, 6, bytesOfLatin1(`${command} OK`));
}

/** A tracker that logs in and sends Codec 8 packets. */
export const simulate: SimulatedDevice = {
  login: (device) => login(device),
  report: (_device, reports) => codec8Packet(reports.map(recordOf)),
  answer,
  obey,
};
