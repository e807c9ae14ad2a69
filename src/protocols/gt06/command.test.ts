import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { gt06 } from "./index.ts";

const context = { receivedAt: 0, transport: "tcp", identified: true, options: {} } as const;

test("a command carries its mark as the server flag, and its answer of either kind is called by it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 0xffff_ffff }), (mark) => {
      const bytes = gt06.connect().command("RELAY,1#", "350000000000017", mark);
      assert.ok(bytes instanceof Uint8Array);
      assert.equal(new DataView(bytes.buffer, bytes.byteOffset).getUint32(5), mark);
      assert.deepEqual(gt06.expects(bytes), { name: mark.toString(16) });
    }),
  );
});

test("answers without a flag name nothing; those of other bytes may have any name", () => {
  const unmarked = gt06.connect().command("RELAY,1#", "350000000000017", 0);
  assert.ok(unmarked instanceof Uint8Array);
  assert.deepEqual(gt06.expects(unmarked), {});
  for (const hex of ["", "7878", "78781580", "787805010001d9dc0d0a"])
    assert.deepEqual(gt06.expects(Uint8Array.fromHex(hex)), {});
  const damaged = unmarked.slice();
  damaged[8] = 7;
  assert.deepEqual(gt06.expects(damaged), {});
});

test("an answer says its command's flag: 0x15, 0x21", () => {
  for (const hex of ["78780e15060a0b0c0d4f4b000200010fc10d0a", "7979000c210a0b0c0d014f4b000154f90d0a"])
    assert.deepEqual(gt06.connect().decode(Uint8Array.fromHex(hex), context)[0], {
      type: "commandResult",
      text: "OK",
      to: "a0b0c0d",
    });
});
