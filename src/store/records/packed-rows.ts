import { RecordsDamaged } from "./damage.ts";
import { packRepeats, roomFor, unpackRepeats } from "./repeats.ts";

/*
 * A row of the tail with several records is packed, because most of each record stands in the one before, too. It is written to the log, and again to its page.
 *    0 u32 0xffffffff: an unpacked row begins with the length of its first record, which is never that
 *    4 bytes of the records, eight decimal digits in ASCII: both engines read them in SQL   12 what `packRepeats` made of the records
 * zstd makes rows up to a fifth shorter. But it sets up a context with each call, and a commit would take twice as much of the processor: see decision 0020.
 */
const packedMark = 0xffffffff;
const digits = 8;
const headerLength = 4 + digits;
/** Shorter rows stay as they are, bytes: most of them have one record. */
const worthPacking = 512;
/** Of its bytes, what a row must be packed to. */
const mostLeft = 0.8;
/** Longer rows stay as they are, and a header that says more is damaged, bytes. A chunk has a quarter, but for one that is a single longer record: see `chunkBytes`. */
export const mostRecordBytes = 1024 * 1024;

let room = Buffer.allocUnsafeSlow(64 * 1024);

/** Packs the records of a row of the tail. Returns the records as they are where that saves little. */
export function packRecords(records: Uint8Array): Uint8Array {
  const { byteLength } = records;
  if (byteLength < worthPacking || byteLength > mostRecordBytes) return records;
  const needed = headerLength + roomFor(byteLength);
  if (room.byteLength < needed) room = Buffer.allocUnsafeSlow(needed);
  const end = packRepeats(records, room, headerLength);
  if (end > byteLength * mostLeft) return records;
  room.writeUInt32LE(packedMark, 0);
  room.write(String(byteLength).padStart(digits, "0"), 4, "latin1");
  return new Uint8Array(room.subarray(0, end));
}

/** The records of a row of the tail. Throws `RecordsDamaged`. */
export function unpackRecords(data: Uint8Array): Uint8Array {
  if (!isPacked(data)) return data;
  const length = lengthIn(data);
  if (length === undefined) throw new RecordsDamaged("the header of packed records can't be right");
  return unpackRepeats(data.subarray(headerLength), length);
}

/** Bytes of a row's records before packing, as far as a damaged row can tell. */
export function recordBytes(data: Uint8Array): number {
  return (isPacked(data) ? lengthIn(data) : undefined) ?? data.byteLength;
}

function isPacked(data: Uint8Array): boolean {
  return data[0] === 0xff && data[1] === 0xff && data[2] === 0xff && data[3] === 0xff;
}

/** What the header says of the length. Undefined if it can't be right. */
function lengthIn(data: Uint8Array): number | undefined {
  let length = 0;
  for (let at = 4; at < headerLength; at++) {
    const digit = (data[at] ?? 0) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    length = length * 10 + digit;
  }
  return length > 0 && length <= mostRecordBytes ? length : undefined;
}
