import { type Certainty, defineProtocol } from "../../wire/protocol.ts";
import { command, expects } from "./command.ts";
import { framer } from "./framer.ts";
import { hexRows } from "./hex.ts";
import { recordRows } from "./records.ts";
import { textRows } from "./rows.ts";
import { typeOf } from "./sentence.ts";
import type { Session } from "./session.ts";
import { simulate } from "./simulate.ts";

/** Beginnings of its messages that no other protocol has: of texts, of the HEX form, and of the record form. */
const beginnings = [
  ...["+RESP:GT", "+BUFF:GT", "+ACK:GT", "+NACK:GT"],
  ...["+RSP", "+BSP", "+EVT", "+BVT", "+INF", "+BNF", "+HBD", "+CRD", "+BRD", "+LGN"],
  ...["+\0", "-\0", "+\x10", "+ACK\x01"],
].map((text) => new TextEncoder().encode(text));

function detect(bytes: Uint8Array): Certainty {
  const matching = beginnings.filter((beginning) =>
    beginning.every((byte, index) => index >= bytes.length || bytes[index] === byte),
  );
  if (matching.length === 0) return "no";
  return matching.some(({ length }) => length <= bytes.length) ? "sure" : "maybe";
}

/** Trackers of Queclink (GL, GV, GMT, GB, CV) in their text, HEX and record forms, over TCP and UDP. */
export const queclink = defineProtocol<Session>({
  id: "queclink",
  title: "Queclink @Track",
  transports: ["tcp", "udp"],
  defaultPort: 5004,
  manuals: [
    { title: "GL300 @Tracker Air Interface Protocol (TRACGL300AN001)", version: "1.02" },
    { title: "GV300 @Track Air Interface Protocol (TRACGV300AN002)", version: "2.40" },
    { title: "GV200 @Track Air Interface Protocol (TRACGV200AN023)", version: "5.01" },
    { title: "GV300CAN @Track Air Interface Protocol (TRACGV300CANAN002)", version: "4.02" },
    { title: "GL601 @Track Air Interface Protocol", version: "V10" },
    { title: "GL500 @Tracker Air Interface Protocol (TRACGL500AN002)", version: "3.02" },
  ],
  detect,
  framer,
  datagram: framer,
  session: Object.freeze({ id: undefined }),
  classify: typeOf,
  messages: [...hexRows, ...recordRows, ...textRows],
  commands: [command],
  expects,
  simulate,
});
