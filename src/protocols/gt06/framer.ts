import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";
import { longStart, shortStart } from "./envelope.ts";
import { bareSizes, shortBareSize } from "./unsealed.ts";

/** Longest message taken, 10 KiB: pieces of pictures are the longest that the manuals know, with some 1 KiB of data. */
const maximum = 10_240;

/** Number, serial number and checksum. */
const leastLength = 5;

function stopsAt(buffer: Uint8Array, at: number): boolean {
  return buffer[at] === 0x0d && buffer[at + 1] === 0x0a;
}

/** Bytes up to what may be the next start: two equal start bytes, the last byte of the buffer, or the end of a stop. */
function resync(buffer: Uint8Array, offset: number, from: number, reason: string): Framing {
  for (let at = from; at < buffer.length; at++) {
    const byte = buffer[at];
    if (byte === 0x0a && buffer[at - 1] === 0x0d) return skip(at + 1 - offset, reason);
    if ((byte === shortStart || byte === longStart) && (at + 1 === buffer.length || buffer[at + 1] === byte))
      return skip(at - offset, reason);
  }
  return skip(buffer.length - offset, reason);
}

/**
 * A message that ends elsewhere than its length says: the clones that leave the checksum out of it, and those
 * without serial number and checksum. Reads on only as far as the bytes still fit one of them.
 */
function otherLength(buffer: Uint8Array, offset: number, end: number): Framing {
  const bare = bareSizes(buffer, offset);
  const ends = [end + 2, ...(bare === "more" ? [] : bare.map((size) => offset + size + 2))];
  for (const candidate of ends)
    if (candidate <= buffer.length && stopsAt(buffer, candidate - 2)) return frame(offset, candidate);
  if (bare === "more" || Math.max(...ends) > buffer.length) return more;
  return resync(buffer, offset, offset + 1, "no stop where the length says");
}

function next(buffer: Uint8Array, offset: number): Framing {
  const available = buffer.length - offset;
  if (available < 1) return more;
  const start = buffer[offset];
  if (start !== shortStart && start !== longStart) return resync(buffer, offset, offset, "before a start");
  if (available < 2) return more;
  if (buffer[offset + 1] !== start) return resync(buffer, offset, offset + 1, "half a start");
  if (available < 4) return more;
  if (start === longStart) {
    const length = ((buffer[offset + 2] ?? 0) << 8) | (buffer[offset + 3] ?? 0);
    const end = offset + 6 + length;
    if (length < leastLength || end + 2 - offset > maximum)
      return resync(buffer, offset, offset + 1, "impossible length");
    if (end > buffer.length) return more;
    return stopsAt(buffer, end - 2) ? frame(offset, end) : otherLength(buffer, offset, end);
  }
  const short = shortBareSize(buffer, offset);
  if (short !== undefined) return frame(offset, offset + short + 2);
  const end = offset + 5 + (buffer[offset + 2] ?? 0);
  if (end > buffer.length) return more;
  return end - offset >= 5 + leastLength && stopsAt(buffer, end - 2)
    ? frame(offset, end)
    : otherLength(buffer, offset, end);
}

/** Cuts by the length field, checks the stop bits, and finds the next start where they are missing. */
export const framer: Framer = Object.freeze({ maximum, next });

/** Sure once a whole message stands at the start; a start alone is shared with other protocols. */
export function detect(bytes: Uint8Array): Certainty {
  const start = bytes[0];
  if (start !== shortStart && start !== longStart) return "no";
  if (bytes.length > 1 && bytes[1] !== start) return "no";
  if (bytes.length < 4) return "maybe";
  const framing = next(bytes, 0);
  if (framing.type === "frame") return "sure";
  return framing.type === "more" ? "maybe" : "no";
}
