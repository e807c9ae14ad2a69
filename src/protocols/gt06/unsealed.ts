import { crc16X25 } from "../../wire/checksums.ts";

/**
 * Messages without serial number and checksum, which the trackers of ZhongXun Topin send among the others (Locator
 * Communication Protocol 180612): start bits, a length, protocol number, data, stop bits. What the length counts
 * differs from message to message.
 */

/** Added to the key of a message without serial number and checksum. */
export const bare = 0x200;

/** Access points in one message; the manual's own count stays below ten. */
const maximumAccessPoints = 40;

/**
 * Lengths of the 0x10 and 0x11 data in the manual's versions: the location alone, or three further bytes. Only the data
 * is counted.
 */
const locationLengths: readonly number[] = [0x12, 0x15];

/** What a login has as its length: the manual's count, or a reserved byte. The IMEI and a version follow. */
const loginLengths: readonly number[] = [0x0a, 0x0d];
const loginSize = 13;

/**
 * Lengths of 0x13 that count one byte more than there is, as the manual prints them; real trackers count what there is.
 */
const statusLengths: readonly number[] = [0x06, 0x07];

/**
 * Lengths of the messages that have at most two bytes behind their number; the low power alarm, 0x81, counts one that
 * it does not have.
 */
const plainLengths: ReadonlyMap<number, readonly number[]> = new Map<number, readonly number[]>([
  ...[0x08, 0x14, 0x15, 0x30, 0x57, 0x58, 0x82, 0x83, 0x94, 0x99].map((type) => [type, [1]] as const),
  ...[0x41, 0x42, 0x43, 0x56, 0x67, 0x80, 0x86].map((type) => [type, [2]] as const),
  [0x81, [1, 2]],
  [0x98, [3]],
]);

/**
 * A message of another number is taken as one up to this length; from 3 on a length may be that of a sealed message of
 * a clone.
 */
const longestOther = 2;

/** Bytes of a cell in the access point messages, by protocol number: 4G models have wide numbers. */
const cellSizes: ReadonlyMap<number, number> = new Map([
  [0x17, 5],
  [0x69, 5],
  [0x18, 9],
  [0x19, 9],
  [0x1a, 9],
  [0x1b, 9],
]);

/** Bytes of one cell in the access point message of this number; undefined where it is none. */
export function cellSizeOf(type: number | undefined): number | undefined {
  return type === undefined ? undefined : cellSizes.get(type);
}

const none: readonly number[] = Object.freeze([]);

/**
 * The sizes that a message without serial number and checksum at `offset` may have, without stop bits; none where no
 * such message can begin there; "more" where further bytes are needed to tell. In access point messages the length is
 * the count of access points.
 */
export function bareSizes(buffer: Uint8Array, offset: number): readonly number[] | "more" {
  if (buffer[offset] !== 0x78) return none;
  const length = buffer[offset + 2] ?? 0;
  const type = buffer[offset + 3];
  const cellSize = cellSizeOf(type);
  if (cellSize !== undefined) return accessPointSizes(buffer, offset, length, cellSize);
  if (type === 0x01) return loginLengths.includes(length) ? [loginSize] : none;
  if (type === 0x10 || type === 0x11) return locationLengths.includes(length) ? [4 + length] : none;
  if (type === 0x13) return statusLengths.includes(length) ? [2 + length] : none;
  const known = type === undefined ? undefined : plainLengths.get(type);
  if (known === undefined ? length < 1 || length > longestOther : !known.includes(length)) return none;
  return [type === 0x81 ? 4 : 3 + length];
}

/** Newer trackers have one byte more behind the cells. */
function accessPointSizes(
  buffer: Uint8Array,
  offset: number,
  count: number,
  cellSize: number,
): readonly number[] | "more" {
  if (count > maximumAccessPoints) return none;
  const cellsAt = offset + 10 + 7 * count;
  const cells = buffer[cellsAt];
  if (cells === undefined) return "more";
  const size = cellsAt + 4 + cellSize * cells - offset;
  return [size, size + 1];
}

/** Key of a frame without serial number and checksum. */
export function bareKey(frame: Uint8Array): number | undefined {
  const sizes = bareSizes(frame, 0);
  if (sizes === "more" || frame[1] !== 0x78 || !sizes.some((size) => hasSize(frame, size))) return undefined;
  return bare | (frame[3] ?? 0);
}

/** Whether a frame has this size, with or without its stop bits. */
export function hasSize(frame: Uint8Array, size: number): boolean {
  return frame.length === size || (frame.length === size + 2 && frame[size] === 0x0d && frame[size + 1] === 0x0a);
}

/**
 * Whether a message that is shorter than its length says stands at `offset`, stop bits and all, and its size without
 * them. A sealed login with the same bytes would have a checksum that begins with the second stop bit; a sealed status
 * would end one byte later.
 */
export function shortBareSize(buffer: Uint8Array, offset: number): number | undefined {
  const type = buffer[offset + 3];
  if (type !== 0x01 && type !== 0x13) return undefined;
  const [size] = bareSizes(buffer, offset);
  if (typeof size !== "number" || buffer[offset + size] !== 0x0d || buffer[offset + size + 1] !== 0x0a)
    return undefined;
  return type === 0x13 || crc16X25(buffer, offset + 2, offset + 14) >> 8 !== 0x0a ? size : undefined;
}
