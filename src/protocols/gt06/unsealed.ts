import { crc16X25 } from "../../wire/checksums.ts";

/**
 * Messages without serial number and checksum, which relatives of the GT06 send among the others
 * (ZhongXun Topin Locator Communication Protocol: start bits, a length that counts number and data, stop bits; in
 * 0x17 and 0x69 the length is the count of access points instead).
 */

/** Access points in one message; the manual's own count stays below ten. */
const maximumAccessPoints = 40;

/** Lengths of the 0x10 and 0x11 data in the manual's versions: the location alone, or three further bytes. Only the data is counted. */
const bareLengths: readonly number[] = [0x12, 0x15];

/** What a login has in place of its length, a reserved byte to these trackers; the IMEI and a version follow. */
const loginLength = 0x0d;

/** Whether a protocol number is that of the access point messages. */
function isWifiNumber(type: number | undefined): boolean {
  return type === 0x17 || type === 0x69;
}

/**
 * Bytes of the access point message at `offset`, without stop bits; 0 where none can begin there; -1 where more bytes are needed.
 */
export function wifiLength(buffer: Uint8Array, offset: number): number {
  const count = buffer[offset + 2] ?? 0;
  if (buffer[offset] !== 0x78 || !isWifiNumber(buffer[offset + 3]) || count > maximumAccessPoints) return 0;
  const cellsAt = offset + 10 + 7 * count;
  const cells = buffer[cellsAt];
  return cells === undefined ? -1 : cellsAt + 4 + 5 * cells - offset;
}

function hasLength(frame: Uint8Array, end: number): boolean {
  return frame.length === end || (frame.length === end + 2 && frame[end] === 0x0d && frame[end + 1] === 0x0a);
}

/** Whether a frame is a whole access point message. */
export function isWifi(frame: Uint8Array): boolean {
  const length = wifiLength(frame, 0);
  return length > 0 && frame[1] === 0x78 && hasLength(frame, length);
}

/** Bytes of the bare login, location or heartbeat at `offset`, without stop bits; 0 where none can begin there. */
export function bareLength(buffer: Uint8Array, offset: number): number {
  if (buffer[offset] !== 0x78) return 0;
  const length = buffer[offset + 2] ?? 0;
  const type = buffer[offset + 3];
  if (length === 1 && type === 0x08) return 4;
  if (length === loginLength && type === 0x01) return 13;
  return (type === 0x10 || type === 0x11) && bareLengths.includes(length) ? 4 + length : 0;
}

/** Key of a frame without serial number and checksum. */
export function isBare(frame: Uint8Array): "bareHeartbeat" | "bareLogin" | "bareLocation" | undefined {
  const length = bareLength(frame, 0);
  if (length === 0 || frame[1] !== 0x78 || !hasLength(frame, length)) return undefined;
  if (length === 4) return "bareHeartbeat";
  return length === 13 ? "bareLogin" : "bareLocation";
}

/**
 * Whether a bare login stands at `offset`, stop bits and all, though its length promises more. A sealed one with the same bytes
 * would have a checksum that begins with the second stop bit.
 */
export function isBareLogin(buffer: Uint8Array, offset: number): boolean {
  return (
    bareLength(buffer, offset) === 13 &&
    buffer[offset + 13] === 0x0d &&
    buffer[offset + 14] === 0x0a &&
    crc16X25(buffer, offset + 2, offset + 14) >> 8 !== 0x0a
  );
}
