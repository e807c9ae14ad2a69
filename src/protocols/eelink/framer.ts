import { type Framer, type Framing, frame, more, skip } from "../../wire/framing.ts";
import type { Certainty } from "../../wire/protocol.ts";

/** Both bytes of the mark of a package. */
export const mark = 0x67;
/** Mark, identifier and size stand before what the size counts. */
export const packageHead = 5;
/** The sequence number, which every package has. */
export const sequenceBytes = 2;
/** Mark, size, checksum and IMEI stand before the packages of a datagram. */
export const datagramHead = 14;
/** Mark and size stand before what a datagram's size counts. */
export const datagramSized = 4;
/** Longest package: a part of a picture. */
const longest = 4096;

const letterE = 0x45;
const letterL = 0x4c;
/** Identifier of the login package. */
const login = 0x01;

/** Whether a datagram begins at a place: `EL`. */
export function isDatagram(bytes: Uint8Array, offset = 0): boolean {
  return bytes[offset] === letterE && bytes[offset + 1] === letterL;
}

/** Cuts packages, and datagrams of packages, by their size. */
export const framer: Framer = {
  maximum: longest,
  next(buffer, offset) {
    const available = buffer.length - offset;
    const [first, second] = [buffer[offset], buffer[offset + 1]];
    const datagram = first === letterE;
    if (available === 0) return more;
    if (!datagram && first !== mark) return junk(buffer, offset);
    const head = datagram ? datagramSized : packageHead;
    if (available < head) return { type: "more", length: head };
    if (second !== (datagram ? letterL : mark)) return junk(buffer, offset);
    const length = head + ((buffer[offset + head - 2] ?? 0) << 8) + (buffer[offset + head - 1] ?? 0);
    const least = (datagram ? datagramHead + packageHead : packageHead) + sequenceBytes;
    if (length > longest || length < least) return junk(buffer, offset);
    return available < length ? { type: "more", length } : frame(offset, offset + length);
  },
};

/** Up to where another message may begin. */
function junk(buffer: Uint8Array, offset: number): Framing {
  let end = offset + 1;
  while (end < buffer.length && buffer[end] !== mark && buffer[end] !== letterE) end++;
  return skip(end - offset, "noStart");
}

/** A connection begins with the login package; a datagram says who sent it. */
export function detect(bytes: Uint8Array): Certainty {
  const [first, second = first === letterE ? letterL : mark, pid = login] = bytes;
  if (first === letterE && second === letterL) {
    const inner = bytes.subarray(datagramHead, datagramHead + 2);
    return inner.some((byte) => byte !== mark) ? "no" : inner.length === 2 ? "sure" : "maybe";
  }
  if (first !== mark || second !== mark) return "no";
  return pid === login && bytes.length >= 3 ? "sure" : "maybe";
}
