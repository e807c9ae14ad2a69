import { type Certainty, defineProtocol, type MessageKey } from "../../wire/protocol.ts";
import { headLength, idBytes } from "./binary-layout.ts";
import { command, expects } from "./command.ts";
import { framer } from "./framer.ts";
import { rows } from "./rows.ts";
import { nameOf } from "./sentence.ts";
import { initialSession } from "./session.ts";
import { simulate } from "./simulate.ts";

/**
 * Makers whose letters are known to stand for this protocol; others may share the form with a protocol of their own.
 */
const makers: ReadonlySet<string> = new Set(["HQ", "hq", "TH", "DC", "XY", "XM"]);

/** Sentences of the form `V` and a number that have a row of their own. */
const ownNames: ReadonlySet<string> = new Set(["V0", "V1", "V3", "V4"]);

/** Names by which a sentence of an unknown maker is known. */
const knownNames: ReadonlySet<string> = new Set(["NBR", "LINK", "VP1", "VI1", "HTBT", "XT"]);

const asterisk = 0x2a;
const dollar = 0x24;
const letterX = 0x58;

function detect(bytes: Uint8Array): Certainty {
  if (bytes[0] === asterisk) return detectSentence(bytes);
  if (bytes[0] !== dollar) return "no";
  if (bytes.length < headLength) return isPartOfHead(bytes) ? "maybe" : "no";
  if (idBytes(bytes, 0) === undefined) return "no";
  return beginsLikeJointech(bytes) ? "maybe" : "sure";
}

/**
 * Whether the bytes may also be the head of a message of Jointech's: its type and a length stand where the time does.
 * 27 bytes for each record; of a lock 35 or 39 bytes, behind a version.
 */
function beginsLikeJointech(bytes: Uint8Array): boolean {
  const [version = 0, type = 0, high = 0, low = 0] = bytes.subarray(6, 10);
  if (high === 0) return type >> 4 > 0 && (low === 0x23 || low === 0x27);
  return version >> 4 > 0 && (type * 256 + high) % 27 === 0;
}

/** Identifier, time and date are BCD, so every byte that came so far must be; but for the digit that fills an IMEI. */
function isPartOfHead(bytes: Uint8Array): boolean {
  return bytes.every((byte, index) => index === 0 || (byte >> 4 <= 9 && (index === 8 || (byte & 0x0f) <= 9)));
}

/** `*XX,` and then the identifier's first character, or a comma where it is left out. */
function detectSentence(bytes: Uint8Array): Certainty {
  const letters = bytes.subarray(1, 3);
  if (!letters.every((byte) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a)) return "no";
  if (bytes.length > 3 && bytes[3] !== 0x2c) return "no";
  if (bytes.length < 5) return "maybe";
  const first = bytes[4] ?? 0;
  const digit = first >= 0x30 && first <= 0x39;
  if (!digit && first !== 0x2c) return "no";
  return makers.has(String.fromCharCode(...letters)) || hasKnownName(bytes) ? "sure" : "maybe";
}

/** Whether the sentence's name has arrived whole and is one of ours. */
function hasKnownName(bytes: Uint8Array): boolean {
  const third = bytes.indexOf(0x2c, bytes.indexOf(0x2c, 4) + 1);
  const name = third < 0 && !bytes.includes(0x23) ? "" : (nameOf(bytes) ?? "");
  return /^V\d+$/.test(name) || knownNames.has(name);
}

function classify(frame: Uint8Array): MessageKey | undefined {
  if (frame[0] === asterisk) {
    const name = nameOf(frame);
    return name !== undefined && /^V\d+$/.test(name) && !ownNames.has(name) ? "V" : name;
  }
  return frame[0] === letterX ? "X" : idBytes(frame, 0, frame.length);
}

/** H02 and its many makers: sentences `*HQ,...#` and binary messages `$...`, over TCP and UDP. */
export const h02 = defineProtocol({
  id: "h02",
  speedUnit: "kn",
  title: "H02 (HQ)",
  transports: ["tcp", "udp"],
  defaultPort: 5013,
  manuals: [
    { title: "Protocol (GPRS and SMS commands of vehicle trackers, TH/DC/XY)" },
    { title: "SinoTrack Protocol (TQ GPRS transport protocol)" },
    { title: "GPRS Protocol (location data and heartbeat, status appendix)" },
    { title: "Communication Protocol", version: "1.0.3" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initialSession,
  classify,
  messages: rows,
  notUnderstood: ["BC, blind spots (V1.0.3)", "ALRM, alarm of the device (V1.0.3)"],
  commands: [command],
  expects,
  simulate,
});
