import { draft, readingsOf } from "../../wire/report.ts";
import { acknowledgement, family, type Packet, type Read } from "./packet.ts";

/** Where versions stand among the hex digits of a login, each digit a part of one. */
interface Layout {
  readonly software: readonly number[];
  readonly firmware: readonly number[];
  readonly hardware: readonly number[];
}

const short: Layout = { software: [0, 1, 2], firmware: [3, 4, 5], hardware: [10, 11] };
const long: Layout = { software: [0, 1, 2, 3], firmware: [10, 11, 12, 13], hardware: [14, 15] };
const asset: Layout = { software: [1, 2, 3], firmware: [10, 11, 12, 13], hardware: [14, 15] };

function layoutOf({ family: of, body }: Packet): Layout | undefined {
  if (body.remaining >= 8) return of === family.asset ? asset : long;
  return body.remaining === 6 ? short : undefined;
}

/** 0x01: versions. It is answered before anything else is sent. */
export const readLogin: Read = (packet) => {
  const layout = layoutOf(packet);
  const digits = packet.body.hex(packet.body.remaining);
  const answer = acknowledgement(packet, "identified");
  if (layout === undefined) return [{ type: "ignored", reason: "login" }, answer];
  const version = (places: readonly number[]): string => places.map((place) => digits[place]).join(".");
  const report = draft();
  report.readings.firmware = version(layout.firmware);
  report.attributes.software = version(layout.software);
  report.attributes.hardware = version(layout.hardware);
  return [readingsOf(report), answer];
};

/** 0x03: nothing but the head. */
export const readHeartbeat: Read = (packet) => [
  { type: "ignored", reason: "heartbeat" },
  acknowledgement(packet, "identified"),
];
