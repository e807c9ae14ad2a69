import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import { externalPlace } from "./external.ts";

/** Longest message: the answer with all parameters has some 600 characters, external data 512. */
const maximum = 2048;

const cr = 0x0d;
const stx = 0x02;
const etx = 0x03;

/** Whether a byte begins a zip report: of the legacy form 0x02, of the universal one its header. */
function isZip(byte: number): boolean {
  return byte === stx || (byte >= 0x81 && byte <= 0x8f);
}

function isText(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f;
}

/** Cuts texts that end with a return, and zip reports, whose second and third byte are their length. */
export const framer: Framer = {
  maximum,
  next(buffer, offset) {
    const first = buffer[offset] ?? 0;
    if (isZip(first)) return cutZip(buffer, offset, first);
    if (isText(first)) return cutText(buffer, offset);
    return skip(junkLength(buffer, offset), "between messages");
  },
};

function cutZip(buffer: Uint8Array, offset: number, first: number): Framing {
  const waiting = buffer.length - offset;
  if (waiting < 3) return waiting > 1 && (buffer[offset + 1] ?? 0) > 3 ? skip(1, "between messages") : more;
  const content = (buffer[offset + 1] ?? 0) * 256 + (buffer[offset + 2] ?? 0);
  if (content === 0 || content > 1023) return skip(1, "between messages");
  const length = content + (first === stx ? 4 : 3);
  if (waiting < length) return { type: "more", length };
  if (first === stx && buffer[offset + length - 1] !== etx) return skip(1, "no end of zip data");
  return frame(offset, offset + length);
}

/** A report of an external device may hold returns within its data, whose length it tells. */
function cutText(buffer: Uint8Array, offset: number): Framing {
  const end = buffer.indexOf(cr, offset);
  if (end < 0) return more;
  const place = externalPlace(buffer, offset, end);
  if (place === undefined || (place.to !== undefined && place.to <= end)) return frame(offset, end, end + 1);
  if (place.to === undefined) return more;
  const behind = buffer.indexOf(cr, place.to);
  return behind < 0 ? more : frame(offset, behind, behind + 1);
}

function junkLength(buffer: Uint8Array, offset: number): number {
  let at = offset + 1;
  while (at < buffer.length && !isText(buffer[at] ?? 0) && !isZip(buffer[at] ?? 0)) at++;
  return at - offset;
}
