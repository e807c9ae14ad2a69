import type { Effect, FailureCause, Reply } from "../../model/effects.ts";
import {
  type CommandForm,
  type DecodeContext,
  type Decoded,
  defineProtocol,
  type ExpectedReply,
  type MessageRow,
} from "../../wire/protocol.ts";
import { bytesOfHex, bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { avlRecords, codec8, codec8Extended, codec16 } from "./avl.ts";
import { dataPacket } from "./encode.ts";
import { classify, datagramHeader, defect, detect, framer } from "./frames.ts";
import { ghRecords } from "./gh3000.ts";
import {
  cameraEffects,
  cameraType,
  codec12,
  codec12Effects,
  codec13,
  codec13Effects,
  codec14,
  codec14Effects,
  codec15,
  codec15Effects,
} from "./messages.ts";
import { simulate } from "./simulate.ts";

/** Nothing of a connection needs to be remembered: the gateway knows its device. */
type Session = Readonly<Record<string, never>>;
type Handle = MessageRow<Session>["handle"];

const codec7 = 0x07;
const avlCodecs: ReadonlySet<number> = new Set([codec7, codec8, codec8Extended, codec16]);

const session: Session = Object.freeze({});

function only(effects: readonly Effect[]): Decoded<Session> {
  return { session, effects };
}

function failure(cause: FailureCause): Decoded<Session> {
  return only([{ type: "failure", cause }]);
}

/** "Communication with server": the IMEI, answered by 01 where the tracker may go on. */
const loginRow: MessageRow<Session> = {
  name: "Login",
  keys: ["login"],
  handle: (frame) =>
    only([
      { type: "identify", ids: [latin1Of(frame.subarray(2))] },
      { type: "reply", bytes: Uint8Array.of(1), when: "identified" },
    ]),
};

/** "Network Ping Timeout": a byte 0xFF that keeps the link open. It has no answer. */
const pingRow: MessageRow<Session> = {
  name: "Network ping",
  keys: ["ping"],
  handle: () => only([{ type: "ignored", reason: "keep-alive" }]),
};

/** Acknowledgements by the number of records, made once: four bytes, "number of data received as integer". */
const acknowledgements: readonly Reply[] = Array.from({ length: 256 }, (_, count) =>
  Object.freeze({ type: "reply", bytes: Uint8Array.of(0, 0, 0, count), when: "stored" } as const),
);

/** A row for a TCP data packet: its CRC is compared, and its device must be known. */
function packetRow(
  name: string,
  codec: number,
  decode: (packet: Uint8Array, context: DecodeContext) => readonly Effect[],
  when?: (packet: Uint8Array) => boolean,
): MessageRow<Session> {
  const handle: Handle = (packet, _session, context) => {
    const found = defect(packet);
    const ignored = found === "badChecksum" && context.options.checksums === "ignore";
    const cause = (ignored ? undefined : found) ?? (context.identified ? undefined : "notIdentified");
    return cause === undefined ? only(decode(packet, context)) : failure(cause);
  };
  return { name, keys: [codec], handle, ...(when && { when }) };
}

/** Records, then the acknowledgement of their number. */
function acknowledged(packet: Uint8Array, effects: Effect[] | undefined): readonly Effect[] {
  if (effects === undefined) return [{ type: "failure", cause: "malformed" }];
  const acknowledgement = acknowledgements[packet[9] ?? 0];
  if (effects.length === 0) effects.push({ type: "ignored", reason: "no records" });
  if (acknowledgement !== undefined) effects.push(acknowledgement);
  return effects;
}

/** Records of a data field, whatever its codec; undefined where they do not fill it, or the codec has no records. */
function recordsOf(packet: Uint8Array, start: number, end: number, context: DecodeContext): Effect[] | undefined {
  const codec = packet[start] ?? 0;
  if (codec === codec7) return ghRecords(packet, start, end);
  return avlCodecs.has(codec) ? avlRecords(packet, start, end, context.options.model) : undefined;
}

function recordPacket(packet: Uint8Array, context: DecodeContext): readonly Effect[] {
  return acknowledged(packet, recordsOf(packet, 8, packet.length - 4, context));
}

/**
 * "UDP channel protocol": each datagram names its device; the answer repeats both packet ids and tells the number of
 * records.
 */
const datagramRow: MessageRow<Session> = {
  name: "UDP channel",
  keys: ["datagram"],
  handle: (datagram, _session, context) => {
    const header = datagramHeader(datagram);
    if (header === undefined) return failure("malformed");
    const records = recordsOf(datagram, header.data, datagram.length, context);
    if (records === undefined) return failure(avlCodecs.has(datagram[header.data] ?? 0) ? "malformed" : "unsupported");
    const id = header.packetId;
    const bytes = Uint8Array.of(0, 5, id >> 8, id & 0xff, 1, header.avlPacketId, records.length);
    if (records.length === 0) records.push({ type: "ignored", reason: "no records" });
    return only([
      { type: "identify", ids: [latin1Of(header.imei)] },
      ...records,
      { type: "reply", bytes, when: "stored" },
    ]);
  },
};

const messages: readonly MessageRow<Session>[] = [
  packetRow("Codec 8", codec8, recordPacket),
  packetRow("Codec 8 Extended", codec8Extended, recordPacket),
  packetRow("Codec 16", codec16, recordPacket),
  packetRow("Codec 7 (GH3000)", codec7, recordPacket),
  datagramRow,
  loginRow,
  pingRow,
  packetRow(
    "Codec 12 camera picture",
    codec12,
    cameraEffects,
    (packet) => packet[9] === 1 && packet[10] === cameraType,
  ),
  packetRow("Codec 12 response", codec12, codec12Effects),
  packetRow("Codec 13", codec13, codec13Effects),
  packetRow("Codec 14 response", codec14, codec14Effects),
  packetRow("Codec 15", codec15, codec15Effects),
];

/** The manual's packets have at most 1,280 bytes. */
const longestCommand = 1024;

/**
 * "Codec 12", type 5. Text that consists of hex byte pairs only (no command of the manual does) is sent as those bytes:
 * that is how a serial device behind the tracker is addressed.
 */
const codec12Command: CommandForm<Session> = {
  name: "codec12",
  encode: (text) => {
    if (text === "" || text.length > longestCommand)
      return { refused: `a command has 1 to ${longestCommand} characters` };
    const binary = bytesOfHex(text);
    if (binary !== undefined) return dataPacket(codec12, 5, binary);
    for (const character of text)
      if (character < " " || character > "~") return { refused: "a command consists of printable ASCII characters" };
    return dataPacket(codec12, 5, bytesOfLatin1(text));
  },
};

/**
 * Commands, of Codec 12 and of 14 for one IMEI only, are answered in their order; nothing else that a server writes is.
 */
function expects(bytes: Uint8Array): ExpectedReply {
  const codec = classify(bytes);
  return codec === codec12 || codec === codec14 ? {} : "nothing";
}

/** Trackers of Teltonika: FMB, FMC, FMM, FMU, FMT, FMx6yz, TAT, TMT250, GH5200, GH3000 and those before them. */
export const teltonika = defineProtocol<Session>({
  id: "teltonika",
  title: "Teltonika (Codec 7, 8, 8 Extended, 12 to 16)",
  transports: ["tcp", "udp"],
  defaultPort: 5027,
  manuals: [
    { title: "Teltonika Data Sending Protocols" },
    { title: "FMB Teltonika Data Sending Parameters ID", version: "03.28" },
    { title: "FMB640 Teltonika Data Sending Parameters ID" },
    { title: "GH3000 AVL data protocol" },
  ],
  detect,
  framer,
  session,
  classify,
  messages,
  commands: [codec12Command],
  expects,
  simulate,
});
