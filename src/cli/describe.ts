import { effectJson } from "../model/effect-json.ts";
import type { Effect } from "../model/effects.ts";
import { protocols as allProtocols } from "../protocols/index.ts";
import { cutDatagram } from "../wire/datagram.ts";
import type { Framer } from "../wire/framing.ts";
import type { AnyProtocol, Transport } from "../wire/protocol.ts";
import { bytesOfHex, latin1Of } from "../wire/reader.ts";
import { framerOf, Replay } from "../wire/replay.ts";
import { FrameStream } from "../wire/stream.ts";
import { defaultReceivedAt } from "./decode.ts";
import { InputError } from "./decode-input.ts";
import { identifyProtocol } from "./decode-run.ts";
import { plain } from "./text.ts";

/** What is known of the bytes. */
export interface DescribeOptions {
  /** Absent: detected. */
  readonly protocol?: string;
  readonly transport?: Transport;
  /** The connection's device, where the bytes do not begin with its login. */
  readonly device?: string;
  readonly model?: string;
  readonly format?: string;
  /** Time of arrival, epoch ms. */
  readonly receivedAt?: number;
  /** The protocols to choose from; every protocol unless tests say otherwise. */
  readonly protocols?: readonly AnyProtocol[];
}

/** Bytes of a message that are shown before "...". */
const shownBytes = 64;

/** What the bytes of a connection say. */
export interface DecodedHex {
  readonly protocol: AnyProtocol;
  readonly transport: Transport;
  /** `row`: the protocol's name of the kind of message. */
  readonly messages: readonly {
    readonly bytes: Uint8Array;
    readonly row: string;
    readonly effects: readonly Effect[];
  }[];
  /** Of bytes that belong to no message. */
  readonly notes: readonly string[];
}

/**
 * Cuts the bytes of a connection into its messages and decodes them. The bytes are hex, blanks and line ends between
 * them allowed; they may hold several messages. Throws InputError where they are no hex or no protocol knows them.
 */
export function decodeHex(hex: string, options: DescribeOptions = {}): DecodedHex {
  const bytes = bytesOfHex(hex.replaceAll(/\s/g, ""));
  if (bytes === undefined || bytes.length === 0) throw new InputError("not hex: pairs of the digits 0 to 9, a to f");
  const { protocol: id, transport: over, device, model, format } = options;
  const { protocol, transport } = identifyProtocol(options.protocols ?? allProtocols, {
    ...(id !== undefined && { protocol: id }),
    ...(over !== undefined && { transport: over }),
    messages: [bytes],
    chunks: false,
    options: {},
  });
  const replay = new Replay(protocol, {
    transport,
    receivedAt: options.receivedAt ?? defaultReceivedAt,
    identified: device !== undefined,
    options: { ...(model !== undefined && { model }), ...(format !== undefined && { format }) },
  });
  const { frames, notes } = transport === "udp" ? cutWhole(protocol, bytes) : cut(framerOf(protocol, transport), bytes);
  const messages = frames.map((frame) => {
    const effects = replay.message(frame);
    return { bytes: frame, row: replay.connection.lastRow ?? "unknown", effects };
  });
  return { protocol, transport, messages, notes };
}

/**
 * What the bytes of a connection say, for people: its messages one after the other, under each what it asks for. Throws
 * as `decodeHex`.
 */
export function describeHex(hex: string, options: DescribeOptions = {}): string {
  const { protocol, transport, messages, notes } = decodeHex(hex, options);
  const lines = [`${protocol.id}: ${protocol.title}, over ${transport}`];
  for (const [index, { bytes, row, effects }] of messages.entries()) {
    lines.push("", `message ${index + 1}: ${row}, ${bytes.length} bytes`);
    lines.push(`  ${preview(bytes)}`, ...effects.flatMap(describeEffect));
  }
  return [...lines, ...notes.map((note) => `\n${note}`), ""].join("\n");
}

interface Cut {
  readonly frames: readonly Uint8Array[];
  readonly notes: readonly string[];
}

/** The messages of a datagram. */
function cutWhole(protocol: AnyProtocol, bytes: Uint8Array): Cut {
  const { messages, skipped, skipReason } = cutDatagram(protocol, bytes);
  return { frames: messages, notes: skipped > 0 ? [skippedNote(skipped, skipReason)] : [] };
}

function skippedNote(count: number, reason: string | undefined): string {
  return `${count} bytes belong to no message (${reason}).`;
}

/**
 * The messages of a stream; all of it as one where it holds no whole one, since a message may be given without its
 * delimiter.
 */
function cut(framer: Framer, bytes: Uint8Array): Cut {
  const stream = new FrameStream(framer, Number.POSITIVE_INFINITY);
  const frames: Uint8Array[] = [];
  stream.push(bytes);
  for (let next = stream.next(); next instanceof Uint8Array; next = stream.next()) frames.push(next);
  for (let next = stream.settled(); next instanceof Uint8Array; next = stream.settled()) frames.push(next);
  if (frames.length === 0)
    return { frames: [bytes], notes: ["No whole message was cut from these bytes; they are read as one."] };
  const notes: string[] = [];
  if (stream.skipped > 0) notes.push(skippedNote(stream.skipped, stream.skipReason));
  if (stream.unread > 0) notes.push(`${stream.unread} bytes at the end begin a message that is not whole.`);
  return { frames, notes };
}

/** Text where all of it can be printed, hex otherwise. */
function preview(bytes: Uint8Array): string {
  const shown = bytes.subarray(0, shownBytes);
  const text = latin1Of(shown);
  const printable = /^[\x20-\x7e\r\n]*$/.test(text);
  return (printable ? JSON.stringify(text) : shown.toHex()) + (bytes.length > shownBytes ? " ..." : "");
}

/** An effect's lines: its type with the short fields, then readings and attributes one a line. */
function describeEffect(effect: Effect): string[] {
  const { type, readings, attributes, ...fields } = effectJson(effect);
  const members = (group: unknown): string[] =>
    Object.entries(typeof group === "object" && group !== null ? group : {}).map(
      ([name, value]) => `      ${plain(name).padEnd(20)} ${plain(value)}`,
    );
  const short = Object.entries(fields)
    .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name} ${plain(Array.isArray(value) ? value.join(", ") : value)}`);
  return [`    ${type.padEnd(10)} ${short.join("  ")}`.trimEnd(), ...members(readings), ...members(attributes)];
}
