import { RecordsDamaged } from "./damage.ts";

/*
 * Packs bytes of which much stands a little before already: most of a record is as in the record before it, and at the same distance. What is packed is steps:
 *   u8: bits 0 to 3 how many bytes are repeated, bits 4 to 6 how many new bytes come before these, bit 7 whether the distance is another one than in the step before
 *   where there are 7 new bytes or more, how many more; the new bytes. With these the last step ends; otherwise
 *   u16 the distance, where it is another one; where 15 bytes or more are repeated, how many more.
 * How many more: bytes to be added up, of which the first that is not 255 is the last. Two bytes are the fewest that are repeated, four where the distance is another one; the
 * number in the step counts from there.
 */
const manyRepeated = 15;
const manyNew = 7;
const elsewhere = 128;
const farthest = 0xffff;
const fewest = 2;
const fewestElsewhere = 4;

const placeBits = 11;
/** Where four bytes stood, by their hash. */
const places = new Int32Array(2 ** placeBits);

/** The most bytes that packing `length` bytes takes. */
export function roomFor(length: number): number {
  return length + Math.ceil(length / 255) + 16;
}

/** Packs bytes into `room`, from a place on. Returns where they end there. `room` must have `roomFor` them. */
export function packRepeats(bytes: Uint8Array, room: Uint8Array, start: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const last = bytes.byteLength - 4;
  places.fill(-1);
  let to = start;
  let done = 0;
  let distance = 0;
  for (let at = 0; at <= last; ) {
    const four = view.getInt32(at, true);
    if (distance > 0 && ((four ^ view.getInt32(at - distance, true)) & 0xffff) === 0) {
      const end = endOfRepeat(bytes, view, at + fewest, distance);
      to = putStep(room, to, bytes, done, at, end - at - fewest, 0);
      if (end - at - fewest >= manyRepeated) to = putMore(room, to, end - at - fewest - manyRepeated);
      at = done = end;
      continue;
    }
    const place = Math.imul(four, 0x9e3779b1) >>> (32 - placeBits);
    const before = places[place] ?? -1;
    places[place] = at;
    if (before < 0 || at - before > farthest || view.getInt32(before, true) !== four) {
      at++;
      continue;
    }
    distance = at - before;
    let begin = at;
    while (begin > done && begin > distance && bytes[begin - 1] === bytes[begin - 1 - distance]) begin--;
    const end = endOfRepeat(bytes, view, at + 4, distance);
    const length = end - begin - fewestElsewhere;
    to = putStep(room, to, bytes, done, begin, length, elsewhere);
    room[to++] = distance & 0xff;
    room[to++] = distance >>> 8;
    if (length >= manyRepeated) to = putMore(room, to, length - manyRepeated);
    at = done = end;
  }
  return putStep(room, to, bytes, done, bytes.byteLength, 0, 0);
}

/** Where a repeat ends that reaches to `from` at least. */
function endOfRepeat(bytes: Uint8Array, view: DataView, from: number, distance: number): number {
  let at = from;
  for (const last = bytes.byteLength - 4; at <= last; at += 4) {
    const differs = view.getInt32(at, true) ^ view.getInt32(at - distance, true);
    // The lowest bit that differs is in the first byte that does.
    if (differs !== 0) return at + ((31 - Math.clz32(differs & -differs)) >> 3);
  }
  while (at < bytes.byteLength && bytes[at] === bytes[at - distance]) at++;
  return at;
}

/** Writes a step with its new bytes, those from `from` to `end`. Returns the place behind. */
function putStep(
  room: Uint8Array,
  start: number,
  bytes: Uint8Array,
  from: number,
  end: number,
  length: number,
  where: number,
): number {
  const fresh = end - from;
  room[start] = where | (Math.min(fresh, manyNew) << 4) | Math.min(length, manyRepeated);
  let to = fresh < manyNew ? start + 1 : putMore(room, start + 1, fresh - manyNew);
  for (let at = from; at < end; at++) room[to++] = bytes[at] ?? 0;
  return to;
}

function putMore(room: Uint8Array, start: number, more: number): number {
  let to = start;
  let left = more;
  for (; left >= 255; left -= 255) room[to++] = 255;
  room[to++] = left;
  return to;
}

/** Unpacks what `packRepeats` made of `length` bytes. Throws `RecordsDamaged`. */
export function unpackRepeats(packed: Uint8Array, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  const steps = new Steps(packed);
  let to = 0;
  let distance = 0;
  for (;;) {
    const step = steps.byte();
    const fresh = ((step >> 4) & manyNew) === manyNew ? manyNew + steps.more() : (step >> 4) & manyNew;
    if (fresh > length - to || !steps.copy(fresh, bytes, to)) throw damaged();
    to += fresh;
    if (steps.isAtEnd) break;
    const isElsewhere = (step & elsewhere) !== 0;
    if (isElsewhere) distance = steps.byte() | (steps.byte() << 8);
    const repeated = (step & manyRepeated) === manyRepeated ? manyRepeated + steps.more() : step & manyRepeated;
    const end = to + repeated + (isElsewhere ? fewestElsewhere : fewest);
    if (distance === 0 || distance > to || end > length) throw damaged();
    if (distance >= end - to && end - to > 32) bytes.copyWithin(to, to - distance, end - distance);
    else for (let at = to; at < end; at++) bytes[at] = bytes[at - distance] ?? 0;
    to = end;
  }
  if (to !== length) throw damaged();
  return bytes;
}

function damaged(): RecordsDamaged {
  return new RecordsDamaged("packed records can't be unpacked");
}

/** Reads steps and trusts none of their bytes. */
class Steps {
  readonly #packed: Uint8Array;
  #at = 0;

  constructor(packed: Uint8Array) {
    this.#packed = packed;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#packed.byteLength;
  }

  byte(): number {
    if (this.isAtEnd) throw damaged();
    return this.#packed[this.#at++] ?? 0;
  }

  more(): number {
    let more = 0;
    for (;;) {
      const byte = this.byte();
      more += byte;
      if (byte !== 255) return more;
    }
  }

  /** Copies the next bytes. Returns false where there are fewer. */
  copy(count: number, bytes: Uint8Array, start: number): boolean {
    const packed = this.#packed;
    const end = this.#at + count;
    if (end > packed.byteLength) return false;
    if (count > 32) bytes.set(packed.subarray(this.#at, end), start);
    else for (let at = this.#at, to = start; at < end; at++, to++) bytes[to] = packed[at] ?? 0;
    this.#at = end;
    return true;
  }
}
