import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { someRecord } from "../../../test/contract/store/records.ts";
import { packedRecords } from "../../../test/support/blocks.ts";
import { RecordsDamaged } from "./damage.ts";
import { packRepeats, roomFor, unpackRepeats } from "./repeats.ts";

/** Bytes of a few kinds, so that much repeats, near and far, long and short, up to the last byte and across itself. */
const fewKinds = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.array(fc.nat({ max: 3 }), { maxLength: 600 }))
  .map(([kinds, values]) => Uint8Array.from(values, (value) => value % kinds));
const pieces = fc
  .tuple(
    fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 5 }),
    fc.array(fc.nat(), { maxLength: 80 }),
  )
  .map(([some, order]) => Buffer.concat(order.map((at) => some[at % some.length] ?? Buffer.alloc(0))));
const runs = fc
  .array(fc.tuple(fc.nat({ max: 255 }), fc.nat({ max: 3000 })), { maxLength: 5 })
  .map((some) => Buffer.concat(some.map(([value, length]) => Buffer.alloc(length, value))));
/** A repeat that is as far away as one may be, or a little further. */
const far = fc
  .tuple(fc.uint8Array({ minLength: 8, maxLength: 40 }), fc.integer({ min: 65_480, max: 65_540 }))
  .map(([bytes, length]) => Buffer.concat([bytes, Buffer.alloc(Math.max(0, length - bytes.length)), bytes]));
const someBytes = fc.oneof(
  fc.uint8Array({ maxLength: 1000 }),
  fewKinds,
  pieces,
  runs,
  far,
  fc.array(someRecord, { maxLength: 20 }).map(packedRecords),
);

function packed(bytes: Uint8Array): Uint8Array {
  const room = new Uint8Array(3 + roomFor(bytes.length));
  const end = packRepeats(bytes, room, 3);
  assert.ok(end <= room.length && Buffer.from(room.subarray(0, 3)).equals(Buffer.alloc(3)));
  return room.slice(3, end);
}

function unpackedOrDamaged(bytes: Uint8Array, length: number): void {
  try {
    assert.equal(unpackRepeats(bytes, length).length, length);
  } catch (error) {
    assert.ok(error instanceof RecordsDamaged, String(error));
  }
}

describe("packed repeats", () => {
  it("give back any bytes", () => {
    fc.assert(
      fc.property(someBytes, fc.nat(7), (bytes, offset) => {
        // Bytes may begin anywhere in a buffer.
        const moved = Buffer.concat([Buffer.alloc(offset, 1), bytes, Buffer.alloc(8, 1)]).subarray(offset, -8);
        assert.ok(unpackRepeats(packed(moved), bytes.length).equals(bytes));
      }),
      { numRuns: 3000 },
    );
  });

  it("take no more room than said, where nothing repeats", () => {
    for (const length of [0, 1, 6, 7, 261, 262, 263, 70_000]) {
      const bytes = new Uint8Array(length).map((_, at) => (Math.imul(at + 1, 0x9e3779b1) ^ (at * at)) >>> 13);
      assert.ok(unpackRepeats(packed(bytes), length).equals(bytes), String(length));
    }
  });

  it("are damaged, or give as many bytes as asked for, whatever they are", () => {
    const lengths = fc.oneof(fc.nat({ max: 2000 }), fc.constant(1024 * 1024));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), lengths, unpackedOrDamaged), { numRuns: 5000 });
    const changed = fc.tuple(someBytes, fc.nat(), fc.nat({ max: 255 }), fc.option(fc.nat()));
    fc.assert(
      fc.property(changed, ([bytes, at, value, end]) => {
        const spoilt = packed(bytes);
        spoilt[at % spoilt.length] = value;
        unpackedOrDamaged(spoilt.subarray(0, end === null ? spoilt.length : end % spoilt.length), bytes.length);
      }),
      { numRuns: 3000 },
    );
  });

  it("are damaged where they repeat what is not there, end within a step, or give fewer or more bytes", () => {
    const whole = packed(Buffer.from("a record, a record, a record"));
    for (let end = 0; end < whole.length; end++)
      assert.throws(() => unpackRepeats(whole.subarray(0, end), 28), RecordsDamaged, String(end));
    for (const length of [0, 27, 29]) assert.throws(() => unpackRepeats(whole, length), RecordsDamaged, String(length));
    for (const steps of [
      // A distance of 0, one beyond the begin, and one that no step told.
      [0x90, 1, 0, 0, 0],
      [0x90, 1, 2, 0, 0],
      [0x10, 1, 0],
    ])
      for (const length of [3, 5]) assert.throws(() => unpackRepeats(Uint8Array.from(steps), length), RecordsDamaged);
  });
});
