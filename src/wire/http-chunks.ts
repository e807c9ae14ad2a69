import { maximumBody, type Refused } from "./http-head.ts";

/** Bytes of a chunk's size line: 8 hex digits and an extension that nobody sends. */
const maximumSizeLine = 128;
/**
 * Bytes of what a chunked body holds beside its data: size lines and trailers. A body in tiny chunks is refused rather
 * than paid for.
 */
export const maximumChunkOverhead = 16 * 1024;

const cr = 0x0d;
const lf = 0x0a;

/** Bytes of trailer fields, which nobody sends. */
const maximumTrailers = 1024;
/** The shortest rest of a body that follows a whole chunk: the last chunk and the empty line. */
const shortestRest = 5;

/** A chunked body: where its pieces are, and where it ends. */
export interface Chunks {
  /** Start and end of each piece, in turn; those behind the mark, where reading went on from one. */
  readonly pieces: readonly number[];
  readonly size: number;
  /** Offset of the first byte after the body. */
  readonly end: number;
}

/** A chunked body that is not whole: where its reading can go on. */
export interface ChunksMark {
  /** Bytes from the body's start to the size line of the first chunk that is not whole. */
  readonly read: number;
  /** Bytes of data among them. */
  readonly size: number;
  /** The body is not whole with fewer bytes than these. */
  readonly needed: number;
}

const start: ChunksMark = Object.freeze({ read: 0, size: 0, needed: 0 });

/** Finds the pieces of a chunked body that starts at `offset`, from a mark of an earlier call on. (RFC 9112, 7.1) */
export function readChunks(bytes: Uint8Array, offset: number, from: ChunksMark = start): Chunks | Refused | ChunksMark {
  const pieces: number[] = [];
  let { read, size } = from;
  for (;;) {
    if (read - size > maximumChunkOverhead) return { refused: "chunks too small" };
    const at = offset + read;
    const line = lineEnd(bytes, at, maximumSizeLine);
    if (line === "more") return { read, size, needed: read + shortestRest };
    if (typeof line !== "number") return line;
    const length = chunkSize(bytes, at, line - 2);
    if (length === undefined) return { refused: "malformed chunk size" };
    if (length === 0) {
      const end = trailersEnd(bytes, line);
      if (end === "more") return { read, size, needed: line - offset };
      return typeof end === "number" ? { pieces, size, end } : end;
    }
    if (size + length > maximumBody) return { refused: "body too long" };
    const end = line + length;
    if (bytes.length < end + 2) return { read, size, needed: end + 2 + shortestRest - offset };
    if (bytes[end] !== cr || bytes[end + 1] !== lf) return { refused: "chunk longer than its size" };
    pieces.push(line, end);
    size += length;
    read = end + 2 - offset;
  }
}

/** The data of a chunked body, copied together. */
export function joinChunks(bytes: Uint8Array, { pieces, size }: Chunks): Uint8Array {
  const body = new Uint8Array(size);
  let at = 0;
  for (let index = 0; index < pieces.length; index += 2) {
    const piece = bytes.subarray(pieces[index], pieces[index + 1]);
    body.set(piece, at);
    at += piece.length;
  }
  return body;
}

/** Offset after the empty line behind the trailer fields, which mean nothing to us. */
function trailersEnd(bytes: Uint8Array, offset: number): number | Refused | "more" {
  let at = offset;
  for (;;) {
    if (at - offset > maximumTrailers) return { refused: "trailers too long" };
    const line = lineEnd(bytes, at, maximumTrailers);
    if (typeof line !== "number" || line - at === 2) return line;
    at = line;
  }
}

/** Offset after the CR LF of the line that starts at `at`. */
function lineEnd(bytes: Uint8Array, at: number, maximum: number): number | Refused | "more" {
  const end = bytes.indexOf(lf, at);
  if (end < 0 ? bytes.length - at > maximum : end - at > maximum) return { refused: "line too long" };
  if (end < 0) return "more";
  return end > at && bytes[end - 1] === cr ? end + 1 : { refused: "line without CR" };
}

/** The hex number at the start of a size line; an extension after `;` is allowed and means nothing. */
function chunkSize(bytes: Uint8Array, from: number, to: number): number | undefined {
  let size = 0;
  for (let index = from; index < to; index++) {
    const code = bytes[index] ?? 0;
    if (code === 0x3b) return index > from ? size : undefined;
    const digit = code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57;
    if (!(digit >= 0 && digit <= 15) || (code > 0x39 && digit < 10) || index - from >= 8) return undefined;
    size = size * 16 + digit;
  }
  return to > from ? size : undefined;
}
