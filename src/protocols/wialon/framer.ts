import { type Framer, frame, more, skip } from "../../wire/framing.ts";

/** Longest message: a black box packet of thousands of records, or a part of a picture. */
const maximum = 65_536;

const hash = 0x23;
const cr = 0x0d;
const lf = 0x0a;
const compressed = 0xff;

/**
 * Cuts lines. Behind a line of a picture or a tachograph file stand the bytes that it counts, and behind 0xFF a packet
 * that is compressed.
 */
export const framer: Framer = {
  maximum,
  next(buffer, offset) {
    const first = buffer[offset];
    if (first === cr || first === lf) return skip(1, "between messages");
    if (first === compressed) return compressedPacket(buffer, offset);
    const end = buffer.indexOf(lf, offset);
    if (end < 0) return more;
    const stop = end + 1 + attachedTo(buffer.subarray(offset, end));
    if (stop - offset > maximum) return skip(end + 1 - offset, "more attached bytes than a message has");
    return buffer.length < stop ? { type: "more", length: stop - offset } : frame(offset, stop);
  },
};

/** 0xFF, the length of what follows (little endian), and a zlib stream. (2.0, "Data compression") */
function compressedPacket(buffer: Uint8Array, offset: number) {
  if (buffer.length - offset < 3) return more;
  const length = 3 + (buffer[offset + 1] ?? 0) + ((buffer[offset + 2] ?? 0) << 8);
  return buffer.length - offset < length
    ? ({ type: "more", length } as const)
    : length > maximum
      ? skip(1, "compressed packet of an impossible length")
      : frame(offset, offset + length);
}

/** How many bytes follow a line: `#I#size;...` and `#T#code;size;...`; none behind others. */
function attachedTo(line: Uint8Array): number {
  if (line[0] !== hash || line[2] !== hash) return 0;
  const kind = line[1];
  if (kind !== 0x49 && kind !== 0x54) return 0;
  const size = new TextDecoder().decode(line.subarray(3, 64)).split(";")[kind === 0x49 ? 0 : 1] ?? "";
  return /^\d{1,6}$/.test(size) ? Number(size) : 0;
}
