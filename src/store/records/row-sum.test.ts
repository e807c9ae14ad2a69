import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { extendedSum, fitsBytes, fitsNumbers, isWhole, rowSum } from "./row-sum.ts";

const numbers = [70_001, 3, 1_790_000_000_000, 1_790_000_000_000, 1];

test("a row's checksum does not fit where any one bit of its numbers or bytes was changed", () => {
  const bytes = Uint8Array.from({ length: 150 }, (_, at) => (at * 37) & 255);
  const sum = rowSum(numbers, bytes);
  assert.equal(isWhole(sum, numbers, bytes), true);
  for (const [at, number] of numbers.entries())
    for (let bit = 0; bit < 48; bit++) {
      const changed = numbers.with(at, number + (Math.floor(number / 2 ** bit) % 2 ? -1 : 1) * 2 ** bit);
      assert.equal(fitsNumbers(sum, changed), false, `bit ${bit} of number ${at}`);
      assert.equal(isWhole(sum, changed, bytes), false, `bit ${bit} of number ${at}`);
    }
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = bytes.slice();
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(isWhole(sum, numbers, changed), false);
    assert.equal(fitsBytes(sum, changed), false);
  }
  for (let bit = 0; bit < 63; bit++) {
    const changed = Number(BigInt(sum) ^ (1n << BigInt(bit)));
    assert.equal(isWhole(changed, numbers, bytes), false, `bit ${bit} of the sum`);
  }
});

test("a sum takes less than six bytes, is extended by what is appended, and stays wrong where it was", () => {
  fc.assert(
    fc.property(
      fc.array(fc.maxSafeInteger(), { maxLength: 12 }),
      fc.array(fc.maxSafeInteger(), { maxLength: 12 }),
      fc.uint8Array(),
      fc.uint8Array(),
      (before, after, bytes, appended) => {
        const sum = rowSum(before, bytes);
        assert.ok(sum >= 0 && sum < 2 ** 47);
        const all = Buffer.concat([bytes, appended]);
        assert.equal(extendedSum(sum, before, after, appended), rowSum(after, all));
        assert.equal(isWhole(extendedSum(sum + 1, before, after, appended), after, all), false);
      },
    ),
  );
});

test("a row without a checksum is neither whole nor damaged", () => {
  assert.equal(isWhole(null, numbers), undefined);
});
