import type { DeviceKey } from "../../../model/device.ts";
import type { UnfollowedSpan } from "../../../model/follow.ts";
import type { RowPlace } from "./messages.ts";

/** Numbers of a row: its number counted from the device's first row, and seconds of its first and last record. */
const width = 3;
const mostSeconds = 0xffff_ffff;

/** Rows of one device, in the order of their numbers, 12 bytes each. */
interface DeviceRows {
  base: number;
  words: Uint32Array;
  count: number;
}

/** Which rows of the log hold records of which device. */
export class Places {
  readonly #devices = new Map<DeviceKey, DeviceRows>();
  /** What they take of memory. */
  bytes = 0;

  /** `first`, `last`: event times of the device's first and last record in the row. */
  add(device: DeviceKey, seq: number, first: number, last: number): void {
    const rows = this.#rowsOf(device, seq);
    const at = width * rows.count;
    if (at === rows.words.length) {
      const grown = new Uint32Array(2 * at);
      grown.set(rows.words);
      this.bytes += grown.byteLength - rows.words.byteLength;
      rows.words = grown;
    }
    // A row whose commit's answer was lost is found when later ones are here already.
    let place = at;
    while (place > 0 && (rows.words[place - width] ?? 0) > seq - rows.base) place -= width;
    rows.words.copyWithin(place + width, place, at);
    rows.words[place] = seq - rows.base;
    rows.words[place + 1] = secondsOf(first);
    rows.words[place + 2] = secondsOf(last);
    rows.count++;
  }

  #rowsOf(device: DeviceKey, seq: number): DeviceRows {
    let rows = this.#devices.get(device);
    if (rows === undefined) {
      rows = { base: seq, words: new Uint32Array(width), count: 0 };
      this.#devices.set(device, rows);
      this.bytes += rows.words.byteLength;
    }
    if (seq < rows.base) {
      for (let at = 0; at < width * rows.count; at += width) rows.words[at] = (rows.words[at] ?? 0) + rows.base - seq;
      rows.base = seq;
    }
    return rows;
  }

  /** Rows in which a device has records that may lie in a range of event time, in the order of their numbers. */
  of(device: DeviceKey, from: number, to: number): RowPlace[] {
    const found: RowPlace[] = [];
    const { base, words, count } = this.#devices.get(device) ?? { base: 0, words: new Uint32Array(0), count: 0 };
    for (let at = 0; at < width * count; at += width) {
      const [seq, first, last] = [words[at] ?? 0, words[at + 1] ?? 0, words[at + 2] ?? 0];
      const row = {
        seq: base + seq,
        first: first === 0 ? Number.NEGATIVE_INFINITY : first * 1000,
        last: last === mostSeconds ? Number.POSITIVE_INFINITY : last * 1000 + 999.999,
      };
      if (row.first <= to && row.last >= from) found.push(row);
    }
    return found;
  }

  /** Devices with rows behind a number: event times of what these hold. */
  *behind(seq: number): Iterable<UnfollowedSpan> {
    for (const device of this.#devices.keys()) {
      let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (const row of this.of(device, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)) {
        if (row.seq <= seq) continue;
        from = Math.min(from, row.first);
        to = Math.max(to, row.last);
      }
      if (from <= to) yield { device, from, to };
    }
  }

  /** Forgets rows up to a number, but not those of some devices. */
  drop(through: number, except: ReadonlySet<DeviceKey>): void {
    for (const [device, rows] of this.#devices) {
      if (except.has(device)) continue;
      let at = 0;
      while (at < width * rows.count && rows.base + (rows.words[at] ?? 0) <= through) at += width;
      if (at === 0) continue;
      this.bytes -= rows.words.byteLength;
      if (at === width * rows.count) this.#devices.delete(device);
      else this.bytes += this.#shorten(rows, at).byteLength;
    }
  }

  #shorten(rows: DeviceRows, from: number): Uint32Array {
    const words = rows.words.slice(from, width * rows.count);
    const ahead = words[0] ?? 0;
    for (let at = 0; at < words.length; at += width) words[at] = (words[at] ?? 0) - ahead;
    rows.base += ahead;
    rows.words = words;
    rows.count -= from / width;
    return words;
  }
}

/** Times that have no seconds since 1970 in 32 bits count as the first or the last of these. */
function secondsOf(time: number): number {
  return Math.max(0, Math.min(mostSeconds, Math.floor(time / 1000)));
}
