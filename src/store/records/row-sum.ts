import { crc32 } from "node:zlib";

/*
 * The checksum of a row, in its column `crc`: the CRC-32 of the row's bytes in the low 32 bits, and above it 15 bits of the CRC-32 of the row's numbers and of that sum. So a start
 * can check numbers without the bytes, and a sum can be extended by bytes that are appended. SQLite stores it in six bytes. The bytes of a block are in another table, and older
 * versions put 0 in place of their sum.
 */
const bytesRange = 2 ** 32;
const headBits = 15;

/** What a checksum covers beside the row's bytes. */
export type RowNumbers = readonly number[];

/** Room for a row's numbers with the sum of its bytes behind them. */
const scratch = new Float64Array(16);
/** Views of `scratch`, by how many numbers they hold: to make a view takes as long as the checksum itself. */
const bytesOf = Array.from({ length: scratch.length + 1 }, (_, count) => new Uint8Array(scratch.buffer, 0, count * 8));

const nothing = new Uint8Array(0);

/** The checksum of a row. */
export function rowSum(numbers: RowNumbers, bytes?: Uint8Array): number {
  return withHead(numbers, bytes === undefined ? 0 : crc32(bytes));
}

/** The checksum of a row after its numbers changed and bytes were appended. If the old one did not match the old numbers, the new one matches no row, so that damage stays visible. */
export function extendedSum(sum: number, before: RowNumbers, after: RowNumbers, appended?: Uint8Array): number {
  if (!fitsNumbers(sum, before)) return misfit;
  const ofBytes = ofBytesIn(sum);
  return withHead(after, appended === undefined ? ofBytes : crc32(appended, ofBytes));
}

/** Whether the first `count` of a row's numbers match its checksum. */
export function fitsNumbers(sum: number, numbers: RowNumbers, count = numbers.length): boolean {
  return sum === withHead(numbers, ofBytesIn(sum), count);
}

/** Whether a row's bytes match its checksum. */
export function fitsBytes(sum: number, bytes: Uint8Array): boolean {
  return crc32(bytes) === ofBytesIn(sum);
}

/** Whether a row matches its checksum. Undefined when it has none: older versions wrote none. `sum`: the column as it was read. */
export function isWhole(sum: unknown, numbers: RowNumbers, bytes?: Uint8Array): boolean | undefined {
  return sum === null || sum === undefined ? undefined : sum === rowSum(numbers, bytes);
}

/** Like `isWhole`, for the numbers alone. */
export function areNumbersWhole(sum: unknown, numbers: RowNumbers): boolean | undefined {
  if (sum === null || sum === undefined) return undefined;
  return typeof sum === "number" && fitsNumbers(sum, numbers);
}

/** The checksum of no row. */
export const misfit = -1;

function ofBytesIn(sum: number): number {
  return ((sum % bytesRange) + bytesRange) % bytesRange;
}

function withHead(numbers: RowNumbers, ofBytes: number, count = numbers.length): number {
  for (let at = 0; at < count; at++) scratch[at] = numbers[at] ?? 0;
  scratch[count] = ofBytes;
  const head = crc32(bytesOf[count + 1] ?? nothing);
  return (head >>> (32 - headBits)) * bytesRange + ofBytes;
}
