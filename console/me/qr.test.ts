import assert from "node:assert/strict";
import { it } from "node:test";
import { qrCode } from "./qr.ts";

it("a QR code has its three marks of seven modules (ISO 18004)", () => {
  const { path, size } = qrCode("otpauth://totp/Waybeam:ana?secret=JBSWY3DPEHPK3PXP");
  // 50 bytes at level M are version 4: 33 modules a side.
  assert.equal(size, 33);
  const isDark = (column: number, row: number) => path.includes(`M${column} ${row}h1`);
  for (const [left, top] of [
    [0, 0],
    [26, 0],
    [0, 26],
  ] as const)
    assert.deepEqual(
      Array.from({ length: 7 }, (_, at) => isDark(left + at, top)),
      Array(7).fill(true),
    );
  assert.equal(isDark(7, 0), false);
});
