import { maximumBody, type Refused } from "./http-head.ts";

/** Bytes of a chunk's size line: 8 hex digits and an extension that nobody sends. */
const maximumSizeLine = 128;
/** Bytes of what a chunked body holds beside its data: size lines and trailers. A body in tiny chunks is refused rather than paid for. */
export const maximumChunkOverhead = 16 * 1024;

const cr = 0x0d;
const lf = 0x0a;

/** A chunked body: where its pieces are, and where it ends. */
export interface Chunks {
  /** Start and end of each piece, in turn. */
  readonly pieces: readonly number[];
  readonly size: number;
  /** Offset of the first byte after the body. */
  readonly end: number;
}

/** Finds the pieces of a chunked body that starts at `offset`. "more": it is not whole yet. (RFC 9112, 7.1) */
export function readChunks(bytes: Uint8Array, offset: number): Chunks | Refused | "more" {
  const pieces: number[] = [];
  let size = 0;
  let at = offset;
  for (;;) {
    if (at - offset - size > maximumChunkOverhead) return { refused: "chunks too small" };
    const line = lineEnd(bytes, at, maximumSizeLine);
    if (typeof line !== "number") return line;
    const length = chunkSize(bytes, at, line - 2);
    if (length === undefined) return { refused: "malformed chunk size" };
    at = line;
    if (length === 0) return readTrailers(bytes, at, pieces, size);
    size += length;
    if (size > maximumBody) return { refused: "body too long" };
    const end = at + length;
    if (bytes.length < end + 2) return "more";
    if (bytes[end] !== cr || bytes[end + 1] !== lf) return { refused: "chunk longer than its size" };
    pieces.push(at, end);
    at = end + 2;
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

/** Trailer fields mean nothing to us; they are read over up to the empty line. */
function readTrailers(
  bytes: Uint8Array,
  offset: number,
  pieces: readonly number[],
  size: number,
): Chunks | Refused | "more" {
  let at = offset;
  for (;;) {
    if (at - offset > maximumChunkOverhead) return { refused: "trailers too long" };
    const line = lineEnd(bytes, at, maximumChunkOverhead);
    if (typeof line !== "number") return line;
    if (line - at === 2) return { pieces, size, end: line };
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
