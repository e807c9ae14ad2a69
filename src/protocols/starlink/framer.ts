import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";

/** Longest message: an event report of many fields, two of which hold the data of a sensor. */
const maximum = 2048;
/** What a message begins with; some units leave the dollar out. */
const starts: readonly string[] = ["$SLU", "SLU"];

const dollar = 0x24;
const asterisk = 0x2a;
const letterS = 0x53;
const cr = 0x0d;
const lf = 0x0a;

/** How the bytes fit the start of a message: all of it, none of it, or as far as they have come. */
export function startOf(bytes: Uint8Array, offset: number): "whole" | "part" | "none" {
  const start = starts[bytes[offset] === dollar ? 0 : 1] ?? "";
  for (let index = 0; index < start.length; index++) {
    const byte = bytes[offset + index];
    if (byte === undefined) return "part";
    if (byte !== start.charCodeAt(index)) return "none";
  }
  return "whole";
}

/** Cuts `$SLU...*` and two digits of a checksum; line ends are passed over. */
export const framer: Framer = {
  maximum,
  next(buffer, offset) {
    const start = startOf(buffer, offset);
    if (start === "part") return more;
    return start === "none" ? skip(junkLength(buffer, offset), "between messages") : cut(buffer, offset);
  },
};

function junkLength(buffer: Uint8Array, offset: number): number {
  let at = offset + 1;
  while (at < buffer.length && buffer[at] !== dollar && buffer[at] !== letterS) at++;
  return at - offset;
}

function cut(buffer: Uint8Array, offset: number): Framing {
  for (let at = offset + 1; at < buffer.length; at++) {
    const byte = buffer[at];
    if (byte === asterisk) {
      const length = at + 3 - offset;
      return buffer.length - offset < length ? { type: "more", length } : frame(offset, offset + length);
    }
    if (byte === dollar || byte === cr || byte === lf) return skip(at - offset, "no end of a message");
  }
  return more;
}
