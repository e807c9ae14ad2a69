import { defaultReceivedAt } from "../../../src/cli/decode.ts";
import type { Effect } from "../../../src/model/effects.ts";
import type { AnyProtocol, Connection, DecodeContext, DecodeOptions } from "../../../src/wire/protocol.ts";
import { compareFixes, comparePosition, compareReplies } from "./compare.ts";
import { messageBytes, type RecordedLine, textOrHex } from "./line.ts";
import { compareCells, compareReading, type ReadingTally, tallyReadings } from "./reading.ts";
import type { Sheet } from "./sheet.ts";

/** A line, and what of it we do otherwise; undefined where the line asks something that we have no counterpart for. */
export interface Verdict {
  readonly line: RecordedLine;
  readonly differences: readonly string[] | undefined;
  /** What we make of it. */
  readonly effects: readonly Effect[];
  /** How its readings compare: a hint, for the other server names and scales some as it likes. */
  readonly readings: ReadingTally;
  /** Its checksum is wrong, so that it was read like one of a device with the tag `checksums`. */
  readonly unsummed: boolean;
}

type Judged = Omit<Verdict, "line">;

const noReadings: ReadingTally = { agreed: 0, differ: [] };

/**
 * Plays all the lines of a protocol: those of one unit on one connection, in order, its device known from the start.
 */
export function playAll(protocol: AnyProtocol, lines: readonly RecordedLine[], sheet: Sheet): readonly Verdict[] {
  const units = Map.groupBy(lines, (line) => line.unit);
  return [...units.values()].flatMap((unit) => {
    const connection = protocol.connect();
    return unit
      .toSorted((left, right) => left.seq - right.seq)
      .map((line) => ({ line, ...judge(protocol, connection, line, sheet) }));
  });
}

function judge(protocol: AnyProtocol, connection: Connection, line: RecordedLine, sheet: Sheet): Judged {
  if (line.role === "decoder") return decoder(protocol, connection, line, sheet);
  const differences =
    line.role === "frame_decoder"
      ? frameDecoder(protocol, line, sheet)
      : line.role === "encoder"
        ? encoder(protocol, line, sheet)
        : undefined;
  return { differences, effects: [], readings: noReadings, unsummed: false };
}

function decoder(protocol: AnyProtocol, connection: Connection, line: RecordedLine, sheet: Sheet): Judged {
  const given = messageBytes(line);
  if (given === undefined || line.encoding === "mqtt")
    return { differences: undefined, effects: [], readings: noReadings, unsummed: false };
  const bytes = sheet.unescaped ? escaped(given, sheet) : given;
  const context: DecodeContext = {
    receivedAt: defaultReceivedAt,
    transport: line.http !== undefined ? "http" : (protocol.transports[0] ?? "tcp"),
    identified: true,
    options: optionsOf(line, sheet),
  };
  const summed = connection.decode(bytes, context);
  const unsummed = summed.some((effect) => effect.type === "failure" && effect.cause === "badChecksum");
  // On a connection of its own, for what it says of its device must not count for those after it.
  const effects = unsummed
    ? protocol.connect().decode(bytes, { ...context, options: { ...context.options, checksums: "ignore" } })
    : summed;
  const differences = [
    ...compareFixes(effects, line.decoded ?? []),
    ...comparePosition(effects, line.expected),
    ...replyDifferences(effects, line, sheet),
    ...asserted(effects, line),
  ];
  return { differences, effects, readings: tallyReadings(effects, line.decoded ?? []), unsummed };
}

/** What of a recorded configuration the device's tags say with us. */
function optionsOf({ config }: RecordedLine, { formats }: Sheet): DecodeOptions {
  if (config === undefined) return {};
  const format = formats?.[JSON.stringify(config)] ?? config.form ?? config.format;
  return {
    ...(config.modelOverride !== undefined && { model: config.modelOverride }),
    ...(format !== undefined && { format }),
  };
}

function asserted(effects: readonly Effect[], { kind, expected }: RecordedLine): readonly string[] {
  if (kind !== "attribute" || expected?.key === undefined) return [];
  const { value } = expected;
  if (typeof value === "object" && value !== null) return compareCells(effects, value);
  return [compareReading(effects, expected.key, value ?? null)].filter((text) => text !== undefined);
}

/**
 * The recorded message must be among those that we cut, with or without delimiters and escapes; bytes that are no
 * message may be passed over.
 */
function frameDecoder(protocol: AnyProtocol, line: RecordedLine, sheet: Sheet): readonly string[] | undefined {
  const bytes = messageBytes(line);
  const { expected } = line;
  if (bytes === undefined || expected?.message === undefined) return undefined;
  const wanted = textOrHex(expected.encoding, expected.message).toHex();
  const cuts = cutsOf(protocol, bytes).flatMap((part) => [part.toHex(), unescaped(part, sheet).toHex()]);
  return cuts.includes(wanted) ? [] : [`cut ${cuts[0] ?? "nothing"}, expected ${wanted}`];
}

/**
 * What the framer makes of the bytes: each message without and with its delimiters and with what is passed over before
 * it, and each skip.
 */
function cutsOf({ framer: { next, settle } }: AnyProtocol, bytes: Uint8Array): readonly Uint8Array[] {
  const cuts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const cut = next(bytes, at);
    const framing = cut.type === "more" && settle !== undefined ? settle(bytes, at) : cut;
    if (framing.type === "more") break;
    const end = framing.type === "frame" ? framing.end : at + framing.length;
    if (framing.type === "frame")
      cuts.push(bytes.subarray(framing.start, framing.stop), bytes.subarray(framing.start, end));
    cuts.push(bytes.subarray(at, end));
    at = end;
  }
  return cuts;
}

/** The bytes with each of some sequences exchanged for another one, from left to right. */
function exchanged(bytes: Uint8Array, pairs: readonly (readonly [from: string, to: string])[]): Uint8Array {
  const hex = bytes.toHex();
  let text = "";
  for (let at = 0; at < hex.length; ) {
    const pair = pairs.find(([from]) => hex.startsWith(from, at));
    text += pair?.[1] ?? hex.slice(at, at + 2);
    at += pair?.[0].length ?? 2;
  }
  return Uint8Array.fromHex(text);
}

function unescaped(bytes: Uint8Array, { escapes = [] }: Sheet): Uint8Array {
  return exchanged(bytes, escapes);
}

/** What stands between the first and the last byte, the delimiters, is escaped. */
function escaped(bytes: Uint8Array, { escapes = [] }: Sheet): Uint8Array {
  const inner = exchanged(
    bytes.subarray(1, -1),
    escapes.map(([from, to]) => [to, from]),
  );
  return Uint8Array.of(...bytes.subarray(0, 1), ...inner, ...bytes.subarray(-1));
}

/** Replies, with what the sheet says of the recorded ones. */
function replyDifferences(effects: readonly Effect[], { replies }: RecordedLine, sheet: Sheet): readonly string[] {
  if (sheet.unescaped)
    return compareReplies(
      effects,
      replies?.map((reply) => escapedReply(reply, sheet)),
    );
  if (sheet.replyBytes === undefined) return compareReplies(effects, replies);
  const { uncompared } = sheet.replyBytes;
  const masked = effects.map((effect) =>
    effect.type === "reply" ? { ...effect, bytes: blanked(effect.bytes, uncompared) } : effect,
  );
  return compareReplies(
    masked,
    replies?.map((reply) =>
      reply.startsWith("hex:") ? `hex:${blanked(Uint8Array.fromHex(reply.slice(4)), uncompared).toHex()}` : reply,
    ),
  );
}

/** A copy with zeros at some places. */
function blanked(bytes: Uint8Array, places: readonly number[]): Uint8Array {
  const copy = bytes.slice();
  for (const place of places) copy[place < 0 ? copy.length + place : place] = 0;
  return copy;
}

/** A recorded reply of bytes with its escapes: that server put them in behind its decoder. */
function escapedReply(reply: string, sheet: Sheet): string {
  const [, head, hex] = /^((?:clock:)?hex:)(7e.*)$/.exec(reply) ?? [];
  return head === undefined || hex === undefined ? reply : head + escaped(Uint8Array.fromHex(hex), sheet).toHex();
}

/** The text of a recorded command: as the sheet writes it, with the recorded attributes in braces, or its own. */
function commandText(command: RecordedLine["command"], { commands }: Sheet): string | undefined {
  const form = commands?.[command?.type ?? ""];
  if (form === undefined) return command?.attributes.data;
  return form.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(command?.attributes[name] ?? ""));
}

function encoder(protocol: AnyProtocol, line: RecordedLine, sheet: Sheet): readonly string[] | undefined {
  const { command, expected } = line;
  // A text for an SMS has no counterpart: the service sends none to trackers.
  const text = line.unit.includes("SmsEncoder") ? undefined : commandText(command, sheet);
  if (text === undefined || expected?.message === undefined) return undefined;
  const encoded = protocol.connect().command(text, line.device_unique_id ?? "", 0);
  const wanted = textOrHex(expected.encoding, expected.message).toHex();
  if (!(encoded instanceof Uint8Array)) return [`command: ${encoded?.refused ?? "no form"}, expected ${wanted}`];
  return encoded.toHex() === wanted ? [] : [`command ${encoded.toHex()}, expected ${wanted}`];
}
