import { defaultReceivedAt } from "../../../src/cli/decode.ts";
import type { Effect } from "../../../src/model/effects.ts";
import type { AnyProtocol, Connection } from "../../../src/wire/protocol.ts";
import { compareFixes, compareReplies } from "./compare.ts";
import { messageBytes, type RecordedLine, textOrHex } from "./line.ts";
import { compareReading } from "./reading.ts";

/** A line, and what of it we do otherwise; undefined where the line asks something that we have no counterpart for. */
export interface Verdict {
  readonly line: RecordedLine;
  readonly differences: readonly string[] | undefined;
}

/** Plays all the lines of a protocol: those of one unit on one connection, in order, its device known from the start. */
export function playAll(protocol: AnyProtocol, lines: readonly RecordedLine[]): readonly Verdict[] {
  const units = Map.groupBy(lines, (line) => line.unit);
  return [...units.values()].flatMap((unit) => {
    const connection = protocol.connect();
    return unit
      .toSorted((left, right) => left.seq - right.seq)
      .map((line) => ({ line, differences: differencesOf(protocol, connection, line) }));
  });
}

function differencesOf(
  protocol: AnyProtocol,
  connection: Connection,
  line: RecordedLine,
): readonly string[] | undefined {
  if (line.role === "decoder") return decoder(protocol, connection, line);
  if (line.role === "frame_decoder") return frameDecoder(protocol, line);
  return line.role === "encoder" ? encoder(protocol, line) : undefined;
}

function decoder(protocol: AnyProtocol, connection: Connection, line: RecordedLine): readonly string[] | undefined {
  const bytes = messageBytes(line);
  if (bytes === undefined || line.encoding === "mqtt") return undefined;
  const model = line.config?.modelOverride;
  const effects = connection.decode(bytes, {
    receivedAt: defaultReceivedAt,
    transport: line.http !== undefined ? "http" : (protocol.transports[0] ?? "tcp"),
    identified: true,
    options: model === undefined ? {} : { model },
  });
  return [
    ...compareFixes(effects, line.decoded ?? []),
    ...compareReplies(effects, line.replies),
    ...asserted(effects, line),
  ];
}

function asserted(effects: readonly Effect[], { kind, expected }: RecordedLine): readonly string[] {
  if (kind !== "attribute" || expected?.key === undefined) return [];
  return [compareReading(effects, expected.key, expected.value ?? null)].filter((text) => text !== undefined);
}

/** The first cut must be the recorded one, with or without delimiters; a single byte that is no message may be passed over. */
function frameDecoder(protocol: AnyProtocol, line: RecordedLine): readonly string[] | undefined {
  const bytes = messageBytes(line);
  const { expected } = line;
  if (bytes === undefined || expected?.message === undefined) return undefined;
  const wanted = textOrHex(expected.encoding, expected.message).toHex();
  const { next, settle } = protocol.framer;
  const cut = next(bytes, 0);
  const framing = cut.type === "more" && settle !== undefined ? settle(bytes, 0) : cut;
  if (framing.type === "more") return ["the framer wants more"];
  const [start, stop, end] =
    framing.type === "frame" ? [framing.start, framing.stop, framing.end] : [0, framing.length, framing.length];
  const cuts = [bytes.subarray(start, stop), bytes.subarray(start, end), bytes.subarray(0, end)].map((cut) =>
    cut.toHex(),
  );
  return cuts.includes(wanted) ? [] : [`cut ${cuts[0]}, expected ${wanted}`];
}

/** Texts of the typed commands that these protocols carry as text. */
const commandTexts: Readonly<Record<string, string>> = { "gt06 engineStop": "Relay,1#" };

function encoder(protocol: AnyProtocol, line: RecordedLine): readonly string[] | undefined {
  const { command, expected } = line;
  const text = command?.attributes.data ?? commandTexts[`${protocol.id} ${command?.type}`];
  if (text === undefined || expected?.message === undefined) return undefined;
  const encoded = protocol.connect().command(text, line.device_unique_id ?? "", 0);
  const wanted = textOrHex(expected.encoding, expected.message).toHex();
  if (!(encoded instanceof Uint8Array)) return [`command: ${encoded?.refused ?? "no form"}, expected ${wanted}`];
  return encoded.toHex() === wanted ? [] : [`command ${encoded.toHex()}, expected ${wanted}`];
}
