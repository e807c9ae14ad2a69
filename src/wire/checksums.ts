/*
 * Checksums by the names and parameters of the "Catalogue of parametrised CRC algorithms" (reveng). Each takes
 * bytes[start, end).
 */

/** Table of a reflected CRC-16 with the given (already reflected) polynomial. */
function reflectedTable(polynomial: number): Uint16Array {
  const table = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let step = 0; step < 8; step++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
    table[byte] = value;
  }
  return table;
}

/** Table of a CRC-16 that is not reflected. */
function plainTable(polynomial: number): Uint16Array {
  const table = new Uint16Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte << 8;
    for (let step = 0; step < 8; step++) value = value & 0x8000 ? (value << 1) ^ polynomial : value << 1;
    table[byte] = value;
  }
  return table;
}

const reflected1021 = reflectedTable(0x8408);
const reflected8005 = reflectedTable(0xa001);
const plain1021 = plainTable(0x1021);

function reflected(table: Uint16Array, initial: number, bytes: Uint8Array, start: number, end: number): number {
  let value = initial;
  for (let index = start; index < end; index++)
    value = (value >>> 8) ^ (table[(value ^ (bytes[index] ?? 0)) & 0xff] ?? 0);
  return value;
}

function plain(table: Uint16Array, initial: number, bytes: Uint8Array, start: number, end: number): number {
  let value = initial;
  for (let index = start; index < end; index++)
    value = ((value << 8) & 0xffff) ^ (table[(value >>> 8) ^ (bytes[index] ?? 0)] ?? 0);
  return value;
}

/** CRC-16/X-25 (ITU-T X.25, also "CRC-ITU"): reflected 0x1021, initial and final 0xFFFF. */
export function crc16X25(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return reflected(reflected1021, 0xffff, bytes, start, end) ^ 0xffff;
}

/** CRC-16/KERMIT (also "CRC-CCITT", true): reflected 0x1021, initial 0. */
export function crc16Kermit(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return reflected(reflected1021, 0, bytes, start, end);
}

/** CRC-16/ARC (also "CRC-16/IBM"): reflected 0x8005, initial 0. */
export function crc16Arc(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return reflected(reflected8005, 0, bytes, start, end);
}

/** CRC-16/MODBUS: reflected 0x8005, initial 0xFFFF. */
export function crc16Modbus(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return reflected(reflected8005, 0xffff, bytes, start, end);
}

/** CRC-16/IBM-3740 (also "CCITT-FALSE"): 0x1021, initial 0xFFFF. */
export function crc16CcittFalse(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return plain(plain1021, 0xffff, bytes, start, end);
}

/** CRC-16/XMODEM: 0x1021, initial 0. */
export function crc16Xmodem(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return plain(plain1021, 0, bytes, start, end);
}

/** CRC-16/GSM: 0x1021, initial 0, final 0xFFFF. */
export function crc16Gsm(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return plain(plain1021, 0, bytes, start, end) ^ 0xffff;
}

const plain31 = Uint8Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let step = 0; step < 8; step++) value = value & 0x80 ? (value << 1) ^ 0x31 : value << 1;
  return value;
});

/** CRC-8/NRSC-5 (of EGTS headers): 0x31, initial 0xFF. */
export function crc8Nrsc5(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let value = 0xff;
  for (let index = start; index < end; index++) value = plain31[value ^ (bytes[index] ?? 0)] ?? 0;
  return value;
}

/** Exclusive or of all bytes. */
export function xor8(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let value = 0;
  for (let index = start; index < end; index++) value ^= bytes[index] ?? 0;
  return value;
}

/** Sum of all bytes; a manual's checksum is mostly its lowest 8 or 16 bits. */
export function sumOf(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let value = 0;
  for (let index = start; index < end; index++) value += bytes[index] ?? 0;
  return value;
}
