import { crc32 } from "node:zlib";
import type { DeviceKey } from "../../model/device.ts";
import type { DeviceRecords } from "../../ports/positions.ts";
import { RecordsDamaged } from "./damage.ts";
import { putRecord } from "./packed-record.ts";
import type { ByteSink } from "./sink.ts";

/*
 * A row of the log holds a commit, little endian:
 *    0 u32 "WBL1"   4 u32 CRC-32 of the directory: all from 8 to its end   8 f64 about when it came   16 u32 devices
 * 20 the directory: of each device, in the order of their keys, f64 key, u32 bytes of its records, u32 CRC-32 of these
 * and the key
 *      the records of each device, in the order in which they came
 * The thread that writes makes the checksums: see `sealRow`.
 */
const magic = 0x314c4257;
const headLength = 20;
const entryLength = 16;

/** Appends a commit as a row without its checksums. The batch names each device once. */
export function putRow(sink: ByteSink, batch: readonly DeviceRecords[]): void {
  const sorted = batch.toSorted((one, other) => one.device - other.device);
  const directory = headLength + entryLength * sorted.length;
  sink.reserve(directory);
  sink.view.setUint32(0, magic, true);
  sink.view.setFloat64(8, sorted[0]?.records[0]?.receivedAt ?? 0, true);
  sink.view.setUint32(16, sorted.length, true);
  sink.length = directory;
  let before = Number.NEGATIVE_INFINITY;
  for (const [index, { device, records }] of sorted.entries()) {
    if (!(device > before)) throw new TypeError(`device ${device} stands in a batch twice`);
    before = device;
    const start = sink.length;
    for (const record of records) putRecord(sink, record);
    sink.view.setFloat64(headLength + entryLength * index, device, true);
    sink.view.setUint32(headLength + entryLength * index + 8, sink.length - start, true);
  }
}

/** Writes the checksums into a row. */
export function sealRow(row: Uint8Array): void {
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  const devices = view.getUint32(16, true);
  let start = headLength + entryLength * devices;
  for (let index = 0; index < devices; index++) {
    const entry = headLength + entryLength * index;
    const end = start + view.getUint32(entry + 8, true);
    view.setUint32(entry + 12, checksumOf(view.getFloat64(entry, true), row.subarray(start, end)), true);
    start = end;
  }
  view.setUint32(4, crc32(row.subarray(8, headLength + entryLength * devices)), true);
}

/** The key is part of it, so that another device's records never pass for this one's. */
function checksumOf(device: DeviceKey, records: Uint8Array): number {
  return crc32(records, device >>> 0);
}

/** A row of the log as it is read. */
export class LogRow {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** About when it came, epoch ms. */
  readonly moment: number;
  readonly devices: number;
  /** Where the records of each device begin, and where the last ones end. */
  readonly #starts: readonly number[];

  /** Throws `RecordsDamaged` where the directory is damaged: nobody knows then whose records the row holds. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.byteLength < headLength || this.#view.getUint32(0, true) !== magic)
      throw new RecordsDamaged("these bytes are no row of the log, or one of a newer version");
    this.devices = this.#view.getUint32(16, true);
    const end = headLength + entryLength * this.devices;
    if (end > bytes.byteLength || this.#view.getUint32(4, true) !== crc32(bytes.subarray(8, end)))
      throw new RecordsDamaged("a directory's checksum is wrong");
    this.moment = this.#view.getFloat64(8, true);
    const starts = [end];
    for (let index = 0, start = end; index < this.devices; index++) {
      start += this.#view.getUint32(headLength + entryLength * index + 8, true);
      starts.push(start);
    }
    this.#starts = starts;
  }

  deviceAt(index: number): DeviceKey {
    return this.#view.getFloat64(headLength + entryLength * index, true);
  }

  /** A device's place in the directory, or -1. */
  indexOf(device: DeviceKey): number {
    let [low, high] = [0, this.devices];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.deviceAt(middle) < device) low = middle + 1;
      else high = middle;
    }
    return low < this.devices && this.deviceAt(low) === device ? low : -1;
  }

  /** A view of the records of the device at this place. Throws `RecordsDamaged`. */
  recordsAt(index: number): Uint8Array {
    const records = this.rawAt(index);
    const checksum = this.#view.getUint32(headLength + entryLength * index + 12, true);
    if (checksum !== checksumOf(this.deviceAt(index), records)) throw new RecordsDamaged("a checksum is wrong");
    return records;
  }

  /** The same bytes, damaged or not. */
  rawAt(index: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[index] ?? 0, this.#starts[index + 1] ?? 0);
  }
}
