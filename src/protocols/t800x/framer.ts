import { type Framer, frame, more, skip } from "../../wire/framing.ts";
import { family, headLength } from "./packet.ts";

/** Longest message: samples of temperatures and messages of tags have some hundred bytes. */
const maximum = 4096;

const firsts: ReadonlySet<number> = new Set(Object.values(family));

/** Whether a byte begins a header. */
export function isFirst(byte: number | undefined): boolean {
  return byte !== undefined && firsts.has(byte);
}

/** Cuts messages by the length that stands behind header and type. */
export const framer: Framer = {
  maximum,
  next(buffer, offset) {
    const first = buffer[offset];
    if (!isFirst(first)) return skip(junkLength(buffer, offset), "between messages");
    const waiting = buffer.length - offset;
    if (waiting < 2) return more;
    if (buffer[offset + 1] !== first) return skip(1, "between messages");
    if (waiting < 5) return more;
    const length = ((buffer[offset + 3] ?? 0) << 8) | (buffer[offset + 4] ?? 0);
    if (length < headLength || length > maximum) return skip(2, "a length that no message has");
    return waiting < length ? { type: "more", length } : frame(offset, offset + length);
  },
};

function junkLength(buffer: Uint8Array, offset: number): number {
  let at = offset + 1;
  while (at < buffer.length && !isFirst(buffer[at])) at++;
  return at - offset;
}
