import { existsSync, readFileSync } from "node:fs";
import { defaultReceivedAt } from "../../src/cli/decode.ts";
import { type DecodeInput, decodeInputOf } from "../../src/cli/decode-input.ts";
import { type EffectJson, effectJson } from "../../src/model/effect-json.ts";
import type { Effect } from "../../src/model/effects.ts";
import { cutDatagram } from "../../src/wire/datagram.ts";
import type { AnyProtocol, Transport } from "../../src/wire/protocol.ts";
import { framerOf, Replay } from "../../src/wire/replay.ts";
import { FrameStream } from "../../src/wire/stream.ts";

/** A command that the connection is given after the vector's messages, and the bytes that must come of it. */
export interface CommandVector {
  readonly text: string;
  readonly device: string;
  readonly expected: { readonly bytes: Uint8Array } | { readonly refused: true };
}

/** A protocol's example: input, exact effects, and where it is from. */
export interface Vector {
  readonly name: string;
  readonly source: string;
  readonly input: DecodeInput;
  readonly transport: Transport;
  readonly effects: readonly (readonly EffectJson[])[];
  readonly command?: CommandVector;
}

interface VectorFile {
  readonly name: string;
  readonly source: string;
  readonly effects: readonly (readonly EffectJson[])[];
  /** `bytes` is hex or {"text"}. */
  readonly command?: {
    readonly text: string;
    readonly device?: string;
    readonly bytes?: string | { readonly text: string };
    readonly refused?: true;
  };
}

function commandOf({ command }: VectorFile): CommandVector | undefined {
  if (command === undefined) return undefined;
  const { bytes } = command;
  const expected =
    bytes === undefined
      ? ({ refused: true } as const)
      : { bytes: typeof bytes === "string" ? Uint8Array.fromHex(bytes) : new TextEncoder().encode(bytes.text) };
  return { text: command.text, device: command.device ?? "", expected };
}

/** The vectors of a parsed `<id>.vectors.json`. */
export function vectorsOf(parsed: unknown): readonly Vector[] {
  if (!Array.isArray(parsed)) throw new Error("vectors must be a list");
  return parsed.map((entry: VectorFile) => {
    const input = decodeInputOf(entry);
    const command = commandOf(entry);
    if (typeof entry.name !== "string" || typeof entry.source !== "string" || !Array.isArray(entry.effects))
      throw new Error("a vector needs name, source and effects");
    return {
      name: entry.name,
      source: entry.source,
      input,
      transport: input.transport ?? "tcp",
      effects: entry.effects,
      ...(command && { command }),
    };
  });
}

/**
 * The vectors that stand beside a protocol's module; none where there is no such file, which the contract suite then
 * complains of.
 */
export function loadVectors(id: string): readonly Vector[] {
  const file = new URL(`../../src/protocols/${id}.vectors.json`, import.meta.url);
  return existsSync(file) ? vectorsOf(JSON.parse(readFileSync(file, "utf8"))) : [];
}

/** A connection that is about to get the vector's messages. */
export function replayOf(protocol: AnyProtocol, { input, transport }: Vector): Replay {
  return new Replay(protocol, {
    transport,
    receivedAt: input.receivedAt ?? defaultReceivedAt,
    identified: input.device !== undefined,
    options: input.options,
  });
}

/** Effects as JSON gives them back, so that what JSON drops can't hide a difference. */
export function asJson(effects: readonly Effect[]): readonly EffectJson[] {
  return JSON.parse(JSON.stringify(effects.map(effectJson)));
}

/** Effects of each message (or piece) of a vector. */
export function play(protocol: AnyProtocol, vector: Vector): readonly (readonly Effect[])[] {
  const replay = replayOf(protocol, vector);
  const { messages, chunks } = vector.input;
  return chunks ? replay.chunks(messages) : messages.map((message) => replay.recorded(message));
}

/** What one row of the table made of one message. */
export interface RowEffects {
  readonly row: string;
  readonly effects: readonly Effect[];
}

/** The row that took each message of a vector, and its effects; messages that no row takes are left out. */
export function playRows(protocol: AnyProtocol, vector: Vector): readonly RowEffects[] {
  const { messages, chunks } = vector.input;
  const frames = chunks
    ? framesOf(protocol, vector.transport, concat(messages))
    : messages.flatMap((bytes) => (vector.transport === "udp" ? cutDatagram(protocol, bytes).messages : [bytes]));
  const replay = replayOf(protocol, vector);
  return frames.flatMap((frame) => {
    const effects = replay.message(frame);
    const row = replay.connection.lastRow;
    return row === undefined ? [] : [{ row, effects }];
  });
}

/**
 * The vector's bytes as a stream carries them; undefined where they do not come as a stream, or a message stands
 * without its delimiter (so that the framer does not give it back whole).
 */
export function streamOf(protocol: AnyProtocol, vector: Vector): readonly Uint8Array[] | undefined {
  const { messages, chunks } = vector.input;
  if (vector.transport === "udp") return undefined;
  const whole = (message: Uint8Array) => isWholeFrame(protocol, vector.transport, message);
  return chunks || messages.every(whole) ? messages : undefined;
}

/** The messages that are cut from a stream of these bytes, after which nothing follows. */
export function framesOf(protocol: AnyProtocol, transport: Transport, bytes: Uint8Array): readonly Uint8Array[] {
  const stream = new FrameStream(framerOf(protocol, transport), Number.POSITIVE_INFINITY);
  const frames: Uint8Array[] = [];
  stream.push(bytes);
  for (let next = stream.next(); next instanceof Uint8Array; next = stream.next()) frames.push(next);
  for (let next = stream.settled(); next instanceof Uint8Array; next = stream.settled()) frames.push(next);
  return frames;
}

/** Whether these bytes are cut as exactly one message, but for a delimiter. */
export function isWholeFrame(protocol: AnyProtocol, transport: Transport, message: Uint8Array): boolean {
  const stream = new FrameStream(framerOf(protocol, transport), 0);
  stream.push(message);
  const first = stream.next();
  const frame = first === "more" ? stream.settled() : first;
  return frame instanceof Uint8Array && stream.unread === 0 && stream.skipped === 0;
}

/** All the bytes in one. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The bytes cut at these places (taken modulo the length). */
export function cutAt(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const marks = [0, ...places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return marks.slice(1).map((mark, index) => bytes.slice(marks[index], mark));
}
