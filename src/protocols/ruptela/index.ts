import type { Effect } from "../../model/effects.ts";
import { type CommandForm, defineProtocol, type ExpectedReply, type MessageRow } from "../../wire/protocol.ts";
import { bytesOfHex, bytesOfLatin1, Reader } from "../../wire/reader.ts";
import { draft, fixOf, readingsOf } from "../../wire/report.ts";
import { acknowledgement, classify, detect, framer, isSound, serverPacket } from "./packet.ts";
import { readRecords } from "./records.ts";
import { simulate } from "./simulate.ts";

/** Who spoke last on the connection. */
interface Session {
  readonly imei: string | undefined;
}

/** Reads a packet's content, between the command and the CRC. */
type Handler = (reader: Reader, receivedAt: number) => readonly Effect[];

function row(name: string, keys: readonly number[], handle: Handler): MessageRow<Session> {
  return {
    name,
    keys,
    handle: (packet, session, { receivedAt, options }) => {
      const reader = new Reader(packet, 2, packet.length - 2);
      const imei = reader.u64Exact().toString().padStart(15, "0");
      if (!isSound(packet) && options.checksums !== "ignore")
        return { session, effects: [{ type: "failure", cause: "badChecksum", ids: [imei] }] };
      reader.skip(1);
      const effects = handle(reader, receivedAt);
      if (imei === session.imei) return { session, effects };
      return { session: { imei }, effects: [{ type: "identify", ids: [imei] }, ...effects] };
    },
  };
}

/** Records of both kinds are acknowledged by command 100. */
const records = 0;

/** Acknowledgements by the command, made once. */
const acknowledgements: ReadonlyMap<number, Uint8Array> = new Map(
  [records, 9, 14, 15, 16, 36].map((command) => [command, acknowledgement(command)]),
);

function acknowledged(command: number, when: "identified" | "stored"): readonly Effect[] {
  const bytes = acknowledgements.get(command);
  return bytes === undefined ? [] : [{ type: "reply", bytes: bytes.slice(), when }];
}

const recordPacket =
  (wide: boolean): Handler =>
  (reader) => {
    const effects = readRecords(reader, wide);
    const known: readonly Effect[] = effects.length === 0 ? [{ type: "ignored", reason: "no records" }] : effects;
    return [...known, ...acknowledged(records, "stored")];
  };

/** Command 9, "Diagnostic trouble codes": count, and of each: reserved, time, place, source (2: from memory), code. */
const troubleCodes: Handler = (reader) => {
  const effects: Effect[] = [];
  const count = reader.u8();
  for (let index = 0; index < count; index++) {
    reader.skip(1);
    const time = reader.u32() * 1000;
    const longitude = reader.i32() / 1e7;
    const latitude = reader.i32() / 1e7;
    const report = draft();
    if (reader.u8() === 2) report.attributes.archive = true;
    report.readings.dtcs = reader.latin1(5);
    const placed = longitude > -214.748 && latitude > -214.748;
    effects.push(placed ? fixOf({ time, valid: true, longitude, latitude }, report) : readingsOf(report, time));
  }
  if (effects.length === 0) effects.push({ type: "ignored", reason: "no trouble codes" });
  return [...effects, ...acknowledged(9, "stored")];
};

/** Text of a device: a command's answer. */
const textResult: Handler = (reader) => [
  { type: "commandResult", text: reader.latin1(reader.remaining).replaceAll("\0", " ").trim() },
];

/** Command 17, "Set IO value": 1 where it was done. */
const ioResult: Handler = (reader) => {
  const result = reader.u8();
  return [{ type: "commandResult", text: String(result), ok: result === 1 }];
};

/**
 * Command 15, "Identification": type of device, firmware, IMSI, network, and the distance, time and angle of records.
 */
const identification: Handler = (reader) => {
  const report = draft();
  if (reader.remaining >= 27) {
    const { readings, attributes } = report;
    const type = reader.latin1(4).replaceAll("\0", " ").trim();
    if (type !== "") attributes.deviceType = type;
    const firmware = reader.latin1(11).replaceAll("\0", " ").trim();
    if (firmware !== "") readings.firmware = firmware;
    attributes.imsi = reader.u64Exact().toString();
    const network = reader.u32();
    if (network > 0) readings.operator = String(network);
  }
  const effect: Effect =
    report.readings.firmware === undefined ? { type: "ignored", reason: "identification" } : readingsOf(report);
  return [effect, ...acknowledged(15, "identified")];
};

const heartbeat: Handler = () => [{ type: "ignored", reason: "heartbeat" }, ...acknowledged(16, "identified")];

/** Command 14, "Transparent channel": port, reserved, time, and what the device there said. */
const transparent: Handler = (reader) => {
  const report = draft();
  report.attributes.port = reader.u8();
  reader.skip(2);
  const time = reader.u32() * 1000;
  const bytes = reader.take(reader.remaining);
  const isText = bytes.every(
    (byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0d || byte === 0x0a || byte === 0x09,
  );
  report.attributes.data = isText ? String.fromCharCode(...bytes).trim() : bytes.toHex();
  return [readingsOf(report, time), ...acknowledged(14, "stored")];
};

/**
 * Command 36, "Driver registration": kind, time, states of registration and card, and three tracks of a magnetic card,
 * each after its length.
 */
const driverCard: Handler = (reader) => {
  const report = draft();
  reader.skip(1);
  const time = reader.u32() * 1000;
  report.attributes.registrationStatus = reader.u8();
  report.attributes.cardStatus = reader.u8();
  report.attributes.track = reader.u8();
  const tracks: string[] = [];
  while (reader.remaining >= 2 && tracks.length < 3)
    tracks.push(reader.latin1(Math.min(reader.u16(), reader.remaining)).replaceAll("\0", " ").trim());
  const driver = tracks.filter((track) => track !== "").join("|");
  if (driver !== "") report.readings.driverId = driver;
  return [readingsOf(report, time), ...acknowledged(36, "stored")];
};

/**
 * Command 37, "Files": pictures in pieces (kind 2: source, name, number of pieces, number of this one, bytes). They are
 * not kept; each piece is asked for, so that the device gets rid of them. Kind 1 is the answer to a request for files.
 */
const files: Handler = (reader) => {
  const kind = reader.u8();
  const source = reader.u8();
  if (kind !== 2) return [{ type: "commandResult", text: `files: ${reader.hex(reader.remaining)}` }];
  const name = reader.take(8);
  const total = reader.u16();
  const piece = reader.u16();
  const ignored: Effect = { type: "ignored", reason: "picture" };
  if (piece + 1 >= total) return [ignored];
  const content = Uint8Array.of(kind, source, ...name, (piece + 1) >> 8, (piece + 1) & 0xff);
  return [ignored, { type: "reply", bytes: serverPacket(137, content), when: "identified" }];
};

const messages: readonly MessageRow<Session>[] = [
  row("records", [1], recordPacket(false)),
  row("extended records", [68], recordPacket(true)),
  row("diagnostic trouble codes", [9], troubleCodes),
  row("identification", [15], identification),
  row("heartbeat", [16], heartbeat),
  row("transparent channel", [14], transparent),
  row("driver registration", [36], driverCard),
  row("files", [37], files),
  row("set IO value", [17], ioResult),
  row("answer in text", [2, 3, 4, 7], textResult),
];

/** A packet has at most 1 KiB. */
const longestText = 1000;

/**
 * Command 108, "SMS via GPRS": the text of an SMS command. A whole packet in hex, with its length and CRC, is sent as
 * it is.
 */
const smsViaGprs: CommandForm<Session> = {
  name: "SMS via GPRS",
  encode: (text) => {
    const packet = bytesOfHex(text);
    if (packet !== undefined && packet.length > 4) {
      const whole = serverPacket(packet[2] ?? 0, packet.subarray(3, -2));
      if (whole.toHex() === packet.toHex()) return whole;
    }
    if (text === "" || text.length > longestText) return { refused: `a command has 1 to ${longestText} characters` };
    if (!/^[\x20-\x7e]+$/.test(text)) return { refused: "a command consists of printable ASCII characters" };
    return serverPacket(108, bytesOfLatin1(text));
  },
};

/** Commands of the server that are answered: configuration, version, firmware, connection, odometer, SMS, IO, files. */
const answered: ReadonlySet<number> = new Set([102, 103, 104, 105, 106, 108, 117, 137]);

function expects(bytes: Uint8Array): ExpectedReply {
  return bytes.length > 4 && !answered.has(bytes[2] ?? 0) ? "nothing" : {};
}

/** Trackers of Ruptela: FM-Eco3, FM-Eco4, FM-Pro3, FM-Pro4, FM-Tco3, FM-Tco4, FM-Plug4, Trace5, HCV5. */
export const ruptela = defineProtocol<Session>({
  id: "ruptela",
  title: "Ruptela",
  transports: ["tcp", "udp"],
  defaultPort: 5046,
  manuals: [
    { title: "FM Pro, FM Eco & FM Tco Protocols", version: "1.67" },
    { title: "Ruptela device protocol", version: "1.103" },
  ],
  detect,
  framer,
  datagram: framer,
  session: Object.freeze({ imei: undefined }),
  classify,
  messages,
  notUnderstood: ["smart card data (5, 6)", "tachograph (10, 11, 12)", "Garmin (30, 31)", "weighing system (32)"],
  commands: [smsViaGprs],
  expects,
  simulate,
});
