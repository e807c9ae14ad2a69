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

const x25Table = reflectedTable(0x8408);
const ibmTable = reflectedTable(0xa001);

function reflected(table: Uint16Array, initial: number, bytes: Uint8Array, start: number, end: number): number {
  let value = initial;
  for (let index = start; index < end; index++)
    value = (value >>> 8) ^ (table[(value ^ (bytes[index] ?? 0)) & 0xff] ?? 0);
  return value;
}

/** CRC-16/X-25 (ITU-T X.25, also "CRC-ITU"): reflected 0x1021, initial and final 0xFFFF. */
export function crc16X25(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return reflected(x25Table, 0xffff, bytes, start, end) ^ 0xffff;
}

/** CRC-16/ARC (also "CRC-16/IBM"): reflected 0x8005, initial 0. */
export function crc16Arc(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  return reflected(ibmTable, 0, bytes, start, end);
}

/** Exclusive or of all bytes. */
export function xor8(bytes: Uint8Array, start = 0, end: number = bytes.length): number {
  let value = 0;
  for (let index = start; index < end; index++) value ^= bytes[index] ?? 0;
  return value;
}
