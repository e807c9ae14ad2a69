/** What a framer says of the bytes so far. */
export type Framing =
  /**
   * No whole message yet. `length`: with fewer bytes from `offset` on, the answer stays the same, so nobody need ask
   * before. `progress`: how far the bytes were read, for the next call to go on from there instead of from the start.
   */
  | { readonly type: "more"; readonly length?: number; readonly progress?: object }
  /** A message: `end` bytes of the buffer belong to it; its own bytes are buffer[start, stop). */
  | { readonly type: "frame"; readonly start: number; readonly stop: number; readonly end: number }
  /** `length` bytes are no message: a lost start, line noise, a keep-alive. */
  | { readonly type: "skip"; readonly length: number; readonly reason: string };

/**
 * Cuts a growing buffer into messages. Pure: it sees the unread bytes from `offset` on and never how TCP cut them,
 * and answers the same for the same bytes, with or without the `progress` of its last answer about the start of them.
 * It never asks for more than `maximum` bytes: a buffer that long which still gives no frame is junk.
 */
export interface Framer {
  readonly maximum: number;
  readonly next: (buffer: Uint8Array, offset: number, progress?: object) => Framing;
  /**
   * Only for a protocol whose messages do not tell their own length, so that `next` must see what follows one: reads
   * the waiting bytes where nothing follows, because the stream has been quiet for `quietMs` or has ended.
   */
  readonly settle?: (buffer: Uint8Array, offset: number) => Framing;
}

/**
 * How long a stream must bring nothing before what waits is taken as it is, ms: well over the gap between two segments
 * of one message.
 */
export const quietMs = 500;

/** The answer of a framer that needs further bytes, however many. */
export const more: Framing = Object.freeze({ type: "more" });

/** A frame whose bytes are buffer[start, stop), ending at `end` (the delimiter's end where it is stripped). */
export function frame(start: number, stop: number, end: number = stop): Framing {
  return { type: "frame", start, stop, end };
}

/** Bytes that are passed over, with the reason for the count and the trace. */
export function skip(length: number, reason: string): Framing {
  return { type: "skip", length, reason };
}
