import { protocols } from "../src/protocols/index.ts";
import { detectionBytes, detectProtocol } from "../src/wire/detect.ts";
import type { AnyProtocol, DecodeContext } from "../src/wire/protocol.ts";
import { framerOf } from "../src/wire/replay.ts";
import { FrameStream } from "../src/wire/stream.ts";
import { concat, loadVectors } from "../test/support/vectors.ts";
import { type Figure, rate } from "./support/figures.ts";

/** Messages of one connection. A tracker keeps one for hours, so this is few. */
const messagesOfConnection = 64;
/** Bytes that arrive at once: what a segment of TCP holds. */
const segment = 1400;
/** How long one protocol is measured, and how often. */
const measuredMs = 400;
const times = 3;

/** A vector's bytes as one connection sends them, and how they are read. */
interface Recorded {
  readonly protocol: AnyProtocol;
  readonly context: DecodeContext;
  /** A piece is a message. */
  readonly datagrams: boolean;
  readonly pieces: readonly Uint8Array[];
  readonly opening: Uint8Array;
}

/** The connections of a protocol's vectors that report something, each message of them again and again. */
function recordedOf(protocol: AnyProtocol): readonly Recorded[] {
  return loadVectors(protocol.id).flatMap((vector) => {
    const datagrams = vector.transport === "udp";
    const { messages } = vector.input;
    const reports = vector.effects.some((list) => list.some(({ type }) => type === "fix" || type === "readings"));
    if (messages.length === 0 || !reports) return [];
    const many = Array.from({ length: Math.ceil(messagesOfConnection / messages.length) }, () => messages).flat();
    const bytes = concat(many);
    const segments = Array.from({ length: Math.ceil(bytes.length / segment) }, (_, index) =>
      bytes.subarray(index * segment, (index + 1) * segment),
    );
    const { receivedAt = Date.UTC(2026, 0, 1), options } = vector.input;
    const context: DecodeContext = { receivedAt, transport: vector.transport, identified: true, options };
    const pieces = datagrams ? many : segments;
    return [{ protocol, context, datagrams, pieces, opening: bytes.subarray(0, detectionBytes) }];
  });
}

/** Cuts a connection's bytes into messages, and decodes them if asked. Gives their number. */
function play({ protocol, context, datagrams, pieces, opening }: Recorded, decodes: boolean): number {
  if (decodes) detectProtocol(protocols, opening, context.transport, false);
  const stream = new FrameStream(framerOf(protocol, context.transport), Number.POSITIVE_INFINITY);
  const connection = protocol.connect();
  if (datagrams) {
    if (decodes) for (const piece of pieces) connection.decode(piece, context);
    return pieces.length;
  }
  let frames = 0;
  for (const piece of pieces) {
    stream.push(piece);
    for (let next = stream.next(); next instanceof Uint8Array; next = stream.next()) {
      frames++;
      if (decodes) connection.decode(next, context);
    }
  }
  return frames;
}

/** Messages a second over all of a protocol's connections. */
function measure(recorded: readonly Recorded[], decodes: boolean): number {
  const begin = performance.now();
  let frames = 0;
  let passed = 0;
  do {
    for (const each of recorded) frames += play(each, decodes);
    passed = performance.now() - begin;
  } while (passed < measuredMs);
  return (frames / passed) * 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

/**
 * Messages that one process decodes in a second, detection and cutting included, beside merely cutting the same bytes.
 */
export async function decode(): Promise<readonly Figure[]> {
  const all = protocols
    .map((protocol) => ({ protocol, recorded: recordedOf(protocol) }))
    .filter(({ recorded }) => recorded.length > 0);
  // All of them first, so that each is measured in a process that speaks all.
  for (const { recorded } of all) for (const decodes of [false, true]) measure(recorded, decodes);
  const measured = all.map(({ protocol, recorded }) => {
    const runs = Array.from({ length: times }, () => ({
      cut: measure(recorded, false),
      decoded: measure(recorded, true),
    }));
    return { protocol, cut: median(runs.map(({ cut }) => cut)), decoded: median(runs.map(({ decoded }) => decoded)) };
  });
  return [
    ...measured.map(
      ({ protocol, cut, decoded }): Figure => ({
        name: `decode ${protocol.id}`,
        value: decoded,
        unit: "messages/s",
        limit: 40_000,
        bound: "at least",
        made: `merely cut: ${rate(cut)}`,
      }),
    ),
    {
      name: "decode, median of the protocols",
      value: median(measured.map(({ decoded }) => decoded)),
      unit: "messages/s",
      limit: 150_000,
      bound: "at least",
      made: `${measured.length} protocols in one process, detection and cutting included`,
    },
  ];
}
