import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";

/** Longest message: a text with fifteen positions or all settings, or a compressed track. */
const maximum = 16_384;

const plus = 0x2b;
/** In place of the plus in reports of the record form that come from the memory. */
const minus = 0x2d;
const dollar = 0x24;
const colon = 0x3a;

/**
 * Where a binary message says how long it is, by the three letters of its head: the offset, and the number of bytes.
 */
const lengths: ReadonlyMap<number, readonly [offset: number, bytes: 1 | 2]> = new Map(
  (
    [
      ["RSP", 9, 2],
      ["BSP", 9, 2],
      ["EVT", 9, 2],
      ["BVT", 9, 2],
      ["INF", 7, 2],
      ["BNF", 7, 2],
      ["CRD", 6, 2],
      ["BRD", 6, 2],
      ["LGN", 6, 2],
      ["ACK", 6, 1],
      ["HBD", 5, 1],
    ] as const
  ).map(([letters, offset, bytes]) => [letterKey(letters), [offset, bytes]]),
);

function letterKey(letters: string): number {
  return letters.charCodeAt(0) * 0x10000 + letters.charCodeAt(1) * 0x100 + letters.charCodeAt(2);
}

/** Cuts texts, which end with `$` (or a zero byte), and binary messages, which give their length. */
export const framer: Framer = {
  maximum,
  next(buffer, offset) {
    const stored = buffer[offset] === minus && (buffer[offset + 1] ?? 0) === 0;
    if (buffer[offset] !== plus && !stored) return skip(junkLength(buffer, offset), "between messages");
    const waiting = buffer.length - offset;
    if (waiting < 5) return more;
    const place = binaryLength(buffer, offset);
    return place === undefined ? cutText(buffer, offset) : cutBinary(buffer, offset, place);
  },
};

/** Where a binary message gives its length; undefined: it is a text. */
function binaryLength(buffer: Uint8Array, offset: number): readonly [number, 1 | 2] | undefined {
  const [, first = 0, second = 0, third = 0, fourth] = buffer.subarray(offset, offset + 5);
  if (first === 0x00) return [2, 2];
  if (first === 0x10) return [2, 1];
  return fourth === colon ? undefined : lengths.get(first * 0x10000 + second * 0x100 + third);
}

function cutText(buffer: Uint8Array, offset: number): Framing {
  for (let index = offset + 1; index < buffer.length; index++) {
    const byte = buffer[index];
    if (byte === dollar || byte === 0) return frame(offset, index, index + 1);
  }
  return more;
}

function cutBinary(buffer: Uint8Array, offset: number, [place, bytes]: readonly [number, 1 | 2]): Framing {
  if (buffer.length - offset < place + bytes) return more;
  const first = buffer[offset + place] ?? 0;
  const length = bytes === 1 ? first : first * 0x100 + (buffer[offset + place + 1] ?? 0);
  if (length < place + bytes + 4 || length > maximum) return skip(1, "impossible length");
  return buffer.length - offset < length ? { type: "more", length } : frame(offset, offset + length);
}

function junkLength(buffer: Uint8Array, offset: number): number {
  let at = offset + 1;
  while (at < buffer.length && buffer[at] !== plus && buffer[at] !== minus) at++;
  return at - offset;
}
