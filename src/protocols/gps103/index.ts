import {
  type Certainty,
  type CommandForm,
  defineProtocol,
  type ExpectedReply,
  type MessageKey,
} from "../../wire/protocol.ts";
import { bytesOfLatin1, latin1Of } from "../../wire/reader.ts";
import { framer } from "./framer.ts";
import { commandOf } from "./keywords.ts";
import { rows } from "./rows.ts";
import { type Gps103Session, initialSession } from "./session.ts";
import { simulate } from "./simulate.ts";

const comma = 0x2c;
const hash = 0x23;

function classify(frame: Uint8Array): MessageKey | undefined {
  const first = frame[0] ?? 0;
  if (first === hash) return "login";
  if (first >= 0x30 && first <= 0x39) return "heartbeat";
  const from = frame.indexOf(comma) + 1;
  if (from === 0) return undefined;
  const next = frame.indexOf(comma, from);
  const to = next < 0 ? frame.length : next;
  if (to - from <= 1 && to > from && frame.length <= to + 3) return "login";
  const keyword = to - from <= 20 ? latin1Of(frame.subarray(from, to)) : "";
  if (keyword === "OBD" || keyword === "vr") return keyword;
  if (isAlternative(frame, to)) return "alternative";
  return commandOf(keyword) === undefined ? "report" : "answer";
}

/**
 * Whether the fields behind the keyword are those of the form that ends with `*`: after the third comma comes no `F` or
 * `L`, and many fields follow.
 */
function isAlternative(frame: Uint8Array, keywordEnd: number): boolean {
  let commas = 0;
  for (let at = keywordEnd; at < frame.length; at++) {
    if (frame[at] !== comma) continue;
    commas++;
    if (commas !== 3) continue;
    const kind = frame[at + 1] ?? comma;
    if ((kind === 0x46 || kind === 0x4c) && (frame[at + 2] ?? comma) === comma) return false;
  }
  return commas >= 16;
}

function detect(bytes: Uint8Array): Certainty {
  const text = latin1Of(bytes.subarray(0, 24));
  if (/^(?:##,imei:|imei:\d|\d{15};)/.test(text)) return "sure";
  const part = text.length < 8 && ("##,imei:".startsWith(text) || "imei:".startsWith(text));
  return part || /^\d{1,15}$/.test(text) || /^\d{15}imei:/.test(text) ? "maybe" : "no";
}

/** Longest command: the trackers take a text of an SMS. */
const maximumText = 160;

/** `**,imei:490154203237518,C,30s`: the text is the command and its parameters (GPRS Protocol, 3). */
const command: CommandForm<Gps103Session> = {
  name: "command",
  encode(text, session, device) {
    if (text.length > maximumText) return { refused: `longer than ${maximumText} characters` };
    if (!/^[0-9A-Z]{1,6}(?:,[ -~]*|;)?$/.test(text) || text.includes("*"))
      return { refused: "a command is capitals or digits, then parameters after commas, without *" };
    if (text.indexOf(";") !== text.lastIndexOf(";")) return { refused: "a command has one semicolon at most" };
    const id = session.id ?? device;
    return id === "" ? { refused: "the device's identifier is not known" } : bytesOfLatin1(`**,imei:${id},${text}`);
  },
};

/** Commands that reports answer: one position, positions by time or by distance. */
const answeredByReports: ReadonlySet<string> = new Set(["B", "C", "F", "001", "101", "103"]);

/** Others are answered by a report that repeats them: `J` by the keyword `jt`, `109` by `109`. */
function expects(bytes: Uint8Array): ExpectedReply {
  const name = /^\*\*,imei:\d+,([0-9A-Z]+)/.exec(latin1Of(bytes))?.[1];
  if (name === undefined) return {};
  return answeredByReports.has(name) ? "nothing" : { name };
}

/** Trackers of Coban (GPS102 to GPS311, TK103-A and -B, TK303, OBD GPS306) and what is built like them. */
export const gps103 = defineProtocol<Gps103Session>({
  id: "gps103",
  title: "Coban (GPS103, TK103, TK303)",
  transports: ["tcp", "udp"],
  defaultPort: 5001,
  speedUnit: "kn",
  manuals: [
    { title: "GPRS Protocol, Shenzhen Coban Electronics", version: "2014-12-12" },
    { title: "GPS102, GPS103, GPS104 GPRS data protocol" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initialSession,
  classify,
  messages: rows,
  notUnderstood: ["Data load (reports from the memory)"],
  commands: [command],
  expects,
  simulate,
});
