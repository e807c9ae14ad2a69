import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import { bracketClose, bracketOpen, envelopeAt, maximumEnvelope } from "./envelope.ts";

/** The length field has four hex digits. */
const maximum = 0xffff + maximumEnvelope;

/**
 * Cuts `[...]` by the length field. Some firmware counts wrongly, and some counts a voice message before its bytes are
 * escaped. Where no bracket stands at the counted place, the message ends at the first closing bracket before another
 * message; names of access points may hold brackets too.
 */
export const framer: Framer = {
  maximum,
  next: (buffer, offset, progress) => cut(buffer, offset, false, progress instanceof Checked ? progress.bytes : 0),
  settle: (buffer, offset) => cut(buffer, offset, true, 0),
};

/** How many bytes of a message hold no end of it. */
class Checked {
  readonly bytes: number;

  constructor(bytes: number) {
    this.bytes = bytes;
  }
}

function cut(buffer: Uint8Array, offset: number, ended: boolean, checked: number): Framing {
  const envelope = envelopeAt(buffer, offset);
  if (envelope === undefined) return skip(junkLength(buffer, offset), "between messages");
  if (envelope === "more") return more;
  const end = envelope.content + envelope.length;
  if (buffer[end] === bracketClose) return frame(offset, end + 1);
  if (end >= buffer.length && !ended) return { type: "more", length: end + 1 - offset };
  return cutBefore(buffer, offset, Math.max(envelope.content, offset + checked), ended);
}

/** The message up to the first closing bracket, from `from` on, that another message follows, or nothing. */
function cutBefore(buffer: Uint8Array, offset: number, from: number, ended: boolean): Framing {
  for (let at = buffer.indexOf(bracketClose, from); at >= 0; at = buffer.indexOf(bracketClose, at + 1)) {
    const next = afterLineEnd(buffer, at + 1);
    const end = next >= buffer.length;
    const follows = end ? "more" : buffer[next] === bracketOpen ? envelopeAt(buffer, next) : undefined;
    if (follows === "more" && !ended) return { type: "more", progress: new Checked(at - offset) };
    if (follows !== undefined) return frame(offset, at + 1, next);
  }
  return { type: "more", progress: new Checked(buffer.length - offset) };
}

function afterLineEnd(buffer: Uint8Array, at: number): number {
  let next = at;
  while (buffer[next] === 0x0d || buffer[next] === 0x0a) next++;
  return next;
}

/** Bytes up to the next opening bracket. */
function junkLength(buffer: Uint8Array, offset: number): number {
  const next = buffer.indexOf(bracketOpen, offset + 1);
  return (next < 0 ? buffer.length : next) - offset;
}
