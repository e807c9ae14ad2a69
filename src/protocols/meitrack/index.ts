import type { Effect } from "../../model/effects.ts";
import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import {
  type Certainty,
  type CommandForm,
  defineProtocol,
  type ExpectedReply,
  type MessageKey,
} from "../../wire/protocol.ts";
import { latin1Of } from "../../wire/reader.ts";
import { readAaa } from "./aaa.ts";
import { readCcc } from "./ccc.ts";
import { readCce } from "./cce.ts";
import {
  type Envelope,
  envelopeOf,
  handler,
  initialSession,
  type MeitrackSession,
  type Read,
  seal,
} from "./envelope.ts";
import { markOf, simulate } from "./simulate.ts";

const dollar = 0x24;
const comma = 0x2c;
/** Longest message: packets of pictures and of the cache have some 1100 bytes. */
const maximum = 8192;
/** Bytes in front of the first comma: `$$`, the data identifier, and up to five digits. */
const headLength = 9;

/** Cuts messages by the length that stands in front of the first comma and counts from it to the line end. */
const framer: Framer = { maximum, next };

function next(buffer: Uint8Array, offset: number): Framing {
  if (buffer[offset] !== dollar) return skip(junkLength(buffer, offset), "between messages");
  const waiting = buffer.length - offset;
  if (waiting < 2) return more;
  if (buffer[offset + 1] !== dollar) return skip(1, "between messages");
  const at = buffer.subarray(offset, offset + headLength).indexOf(comma);
  if (at < 0) return waiting < headLength ? more : skip(2, "no length");
  const digits = latin1Of(buffer.subarray(offset + 3, offset + at));
  if (!/^\d{2,5}$/.test(digits)) return skip(2, "no length");
  const length = at + Number(digits);
  if (length > maximum || Number(digits) < 12) return skip(2, "a length that no message has");
  if (waiting < length) return { type: "more", length };
  const end = offset + length;
  if (buffer[end - 2] !== 0x0d || buffer[end - 1] !== 0x0a) return skip(2, "no line end where its length says");
  return frame(offset, end);
}

function junkLength(buffer: Uint8Array, offset: number): number {
  const at = buffer.indexOf(dollar, offset + 1);
  return (at < 0 ? buffer.length : at) - offset;
}

function detect(bytes: Uint8Array): Certainty {
  const text = latin1Of(bytes.subarray(0, 32));
  if (/^\$\$[A-z]\d{2,5},\d{5,16},[A-Z]/.test(text)) return "sure";
  return /^\$(?:\$(?:[A-z](?:\d{1,5}(?:,\d{0,16}(?:,)?)?)?)?)?$/.test(text) ? "maybe" : "no";
}

/** The types that have a row of their own; all others are answers to commands. */
const types: ReadonlySet<string> = new Set(["AAA", "AAC", "CCC", "CCE", "D00", "D03"]);

function classify(bytes: Uint8Array): MessageKey | undefined {
  if (bytes[0] !== dollar || bytes[1] !== dollar) return undefined;
  const type = envelopeOf(bytes)?.type;
  return type === undefined || types.has(type) ? type : "answer";
}

function bodyOf(bytes: Uint8Array, { from, to }: Envelope): string {
  return latin1Of(bytes.subarray(from, to));
}

/** Everything that is no report: the type and what the tracker answers, `OK` or a code or values. */
function readAnswer(bytes: Uint8Array, envelope: Envelope): readonly Effect[] {
  const body = bodyOf(bytes, envelope);
  const to = nameOf(envelope);
  const text = body === "" ? envelope.type : `${envelope.type},${body}`;
  return [{ type: "commandResult", text, to, ...(body === "OK" && { ok: true }) }];
}

/** An answer repeats its command's data identifier and type. */
function nameOf({ mark, type }: Envelope): string {
  return `${mark} ${type}`;
}

/** AAC: what the tracker asks the server to confirm; the confirmation repeats it. */
const readAac: Read = (bytes, envelope) => {
  const body = bodyOf(bytes, envelope);
  return [
    { type: "ignored", reason: "asks for a confirmation" },
    reply(envelope.mark, envelope, body === "" ? "AAC" : `AAC,${body}`),
  ];
};

function reply(mark: string, { imei }: Envelope, content: string): Effect {
  return { type: "reply", bytes: seal("@@", mark, imei, content), when: "identified" };
}

/** D03, the answer to the command to take a picture: the server asks for its first packet. */
const readD03: Read = (bytes, envelope) => [
  ...readAnswer(bytes, envelope),
  reply("O", envelope, "D00,camera_picture.jpg,0"),
];

/**
 * D00, a packet of a picture: name, number of packets, number of this one, and the bytes, which are not kept. After
 * eight packets the next eight are asked for.
 */
const readD00: Read = (bytes, envelope) => {
  const [name = "", total = "", current = ""] = latin1Of(
    bytes.subarray(envelope.from, Math.min(envelope.to, envelope.from + 128)),
  ).split(",");
  const next = Number(current) + 1;
  const isPart = /^[\w.-]{1,64}$/.test(name) && /^\d{1,5}$/.test(total) && /^\d{1,5}$/.test(current);
  const ignored: Effect = { type: "ignored", reason: "part of a picture" };
  if (!isPart || next % 8 !== 0 || next >= Number(total)) return [ignored];
  return [ignored, reply("O", envelope, `D00,${name},${next}`)];
};

/** `@@<identifier><length>,<IMEI>,<type>,<parameters>*<checksum>` and a line end (GPRS Protocol, 1.1). */
const command: CommandForm<MeitrackSession> = {
  name: "command",
  encode(text, session, device, mark) {
    if (text.length > 1024) return { refused: "longer than 1024 characters" };
    if (!/^[0-9A-Z]{1,8}(?:,[\x20-\x7e]*)?$/.test(text))
      return { refused: "a command is a type of capitals and digits, then parameters after commas" };
    const id = session.id ?? device;
    return id === "" ? { refused: "the device's identifier is not known" } : seal("@@", markOf(mark), id, text);
  },
};

/** A10 is answered by a report. */
function expects(bytes: Uint8Array): ExpectedReply {
  const envelope = envelopeOf(bytes);
  if (envelope === undefined) return {};
  return envelope.type === "A10" ? "nothing" : { name: nameOf(envelope) };
}

/**
 * Meitrack's trackers: `$$` messages with text (AAA), with fixed packets (CCC) and with packets of parameters (CCE).
 */
export const meitrack = defineProtocol<MeitrackSession>({
  id: "meitrack",
  title: "Meitrack",
  transports: ["tcp", "udp"],
  defaultPort: 5020,
  manuals: [
    { title: "MEITRACK GPRS Protocol (MT90, MVT, T1, T3, T333, TC68S ...)", version: "V1.7" },
    { title: "MEITRACK T622 GPRS Protocol", version: "V1.2" },
    { title: "MEITRACK T1 & T333 GPRS Protocol", version: "V1.4" },
  ],
  detect,
  framer,
  datagram: framer,
  session: initialSession,
  classify,
  messages: [
    { name: "AAA, automatic event report", keys: ["AAA"], handle: handler(readAaa) },
    { name: "AAC, to be confirmed", keys: ["AAC"], handle: handler(readAac) },
    { name: "CCC, fixed packets", keys: ["CCC"], handle: handler(readCcc) },
    { name: "CCE, packets of parameters", keys: ["CCE"], handle: handler(readCce) },
    { name: "D00, packet of a picture", keys: ["D00"], handle: handler(readD00) },
    { name: "D03, picture taken", keys: ["D03"], handle: handler(readD03) },
    { name: "answer to a command", keys: ["answer"], handle: handler(readAnswer) },
  ],
  notUnderstood: ["CCC 0x0501 compression format (T622, 1.4)"],
  commands: [command],
  expects,
  simulate,
});
