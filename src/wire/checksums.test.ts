import assert from "node:assert/strict";
import { test } from "node:test";
import {
  crc8Nrsc5,
  crc16Arc,
  crc16CcittFalse,
  crc16Gsm,
  crc16Kermit,
  crc16Modbus,
  crc16X25,
  crc16Xmodem,
  sumOf,
  xor8,
} from "./checksums.ts";

const check = new TextEncoder().encode("123456789");

test("checksums of the check text are those of the CRC catalogue", () => {
  const values = [
    [crc16X25, 0x906e],
    [crc16Kermit, 0x2189],
    [crc16Arc, 0xbb3d],
    [crc16Modbus, 0x4b37],
    [crc16CcittFalse, 0x29b1],
    [crc16Xmodem, 0x31c3],
    [crc16Gsm, 0xce3c],
    [crc8Nrsc5, 0xf7],
    // "1" to "9" are 0x31 to 0x39.
    [xor8, 0x31],
    [sumOf, 477],
  ] as const;
  for (const [sum, expected] of values) {
    assert.equal(sum(check), expected, sum.name);
    assert.equal(sum(Uint8Array.of(9, ...check, 9), 1, 10), expected, `${sum.name} of a part`);
  }
});
