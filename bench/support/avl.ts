import { crc16Arc } from "../../src/wire/checksums.ts";

/** One-byte, two-byte and four-byte IO elements of a record: ids of the AVL list, and values. */
export interface Elements {
  readonly ones: readonly (readonly [number, number])[];
  readonly twos: readonly (readonly [number, number])[];
  readonly fours: readonly (readonly [number, number])[];
}

/** Where a tracker is when, and what it reports beside. */
export interface Journey {
  readonly elements: Elements;
  /**
   * Writes position, speed and whatever else changes into the record at that offset. `time`: epoch ms; `step` counts
   * the records.
   */
  place(view: DataView, at: number, time: number, step: number): void;
}

/**
 * What a car tracker sends with usual settings, each second some 15 m further along a line, which fits the speeds that
 * it reports.
 */
const line: Journey = {
  elements: {
    ones: [
      [239, 1],
      [240, 1],
      [21, 4],
      [69, 1],
    ],
    twos: [
      [181, 12],
      [182, 9],
      [66, 13_845],
      [67, 4_012],
      [24, 61],
    ],
    fours: [
      [16, 123_456],
      [241, 26_201],
    ],
  },
  place(view, at, _time, step) {
    view.setInt32(at + 9, 252_000_000 + (step % 100_000) * 1_649);
    view.setInt32(at + 13, 546_000_000 + (step % 90_000) * 901);
    view.setUint16(at + 22, 40 + (step % 50));
  },
};

/** Offset of the first record in a packet. */
const head = 10;

/**
 * A Codec 8 packet of so many records (Teltonika, "Codec 8 protocol sending over TCP"), whose times and positions are
 * set for each sending.
 */
export class AvlPacket {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  readonly #records: number;
  readonly #journey: Journey;
  /** Bytes of one record. */
  readonly #length: number;

  constructor(records: number, journey = line) {
    this.#records = records;
    this.#journey = journey;
    const { ones, twos, fours } = journey.elements;
    this.#length = 24 + 2 + 1 + ones.length * 2 + 1 + twos.length * 3 + 1 + fours.length * 5 + 1;
    const data = 3 + records * this.#length;
    this.bytes = new Uint8Array(8 + data + 4);
    this.#view = new DataView(this.bytes.buffer);
    this.#view.setUint32(4, data);
    this.#view.setUint8(8, 0x08);
    this.#view.setUint8(9, records);
    for (let index = 0; index < records; index++) this.#element(head + index * this.#length);
    this.#view.setUint8(head + records * this.#length, records);
  }

  /** Sets the packet to positions of consecutive seconds from `time` on, and its checksum. */
  move(time: number, step: number): void {
    for (let index = 0; index < this.#records; index++) {
      const at = head + index * this.#length;
      const now = time + index * 1000;
      this.#view.setUint32(at, Math.floor(now / 0x1_0000_0000));
      this.#view.setUint32(at + 4, now >>> 0);
      this.#journey.place(this.#view, at, now, step + index);
    }
    const data = this.bytes.length - 12;
    this.#view.setUint32(8 + data, crc16Arc(this.bytes, 8, 8 + data));
  }

  #element(at: number): void {
    const view = this.#view;
    const { ones, twos, fours } = this.#journey.elements;
    view.setUint8(at + 8, 1);
    view.setInt16(at + 17, 112);
    view.setUint16(at + 19, 87);
    view.setUint8(at + 21, 11);
    let to = at + 24;
    view.setUint8(to++, 0);
    view.setUint8(to++, ones.length + twos.length + fours.length);
    to = this.#elements(to, ones, 1);
    to = this.#elements(to, twos, 2);
    to = this.#elements(to, fours, 4);
    view.setUint8(to, 0);
  }

  #elements(start: number, elements: readonly (readonly [number, number])[], width: 1 | 2 | 4): number {
    let to = start;
    this.#view.setUint8(to++, elements.length);
    for (const [id, value] of elements) {
      this.#view.setUint8(to++, id);
      if (width === 1) this.#view.setUint8(to, value);
      else if (width === 2) this.#view.setUint16(to, value);
      else this.#view.setUint32(to, value);
      to += width;
    }
    return to;
  }
}

/** The login of an IMEI. */
export function avlLogin(imei: string): Uint8Array {
  const bytes = new Uint8Array(2 + imei.length);
  bytes[1] = imei.length;
  for (let index = 0; index < imei.length; index++) bytes[2 + index] = imei.charCodeAt(index);
  return bytes;
}

/** The first `count` IMEI numbers of the load's fleet. */
export function avlImeis(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => avlImei(index));
}

/** Invented IMEI number `index` of the load's fleet. */
export function avlImei(index: number): string {
  return `35200000${String(index).padStart(7, "0")}`;
}
