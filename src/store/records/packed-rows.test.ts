import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import fc from "fast-check";
import { record, someRecord } from "../../../test/contract/store/records.ts";
import { packedRecords } from "../../../test/support/blocks.ts";
import { tailBytes } from "../sqlite/row-sums.ts";
import { checkChunk, wholeRecords } from "./chunk-check.ts";
import { isOutOfMemory, RecordsDamaged } from "./damage.ts";
import { mostRecordBytes, packRecords, recordBytes, unpackRecords } from "./packed-rows.ts";

const headerLength = 12;
const records = Array.from({ length: 20 }, (_, at) => record(at + 1));
const unpacked = packedRecords(records);
const packed = Uint8Array.from(packRecords(unpacked));

function headerOf(length: number | string): Buffer {
  return Buffer.concat([Buffer.alloc(4, 0xff), Buffer.from(String(length).padStart(8, "0"), "latin1")]);
}

function isPacked(data: Uint8Array): boolean {
  return Buffer.from(data.subarray(0, 4)).equals(Buffer.alloc(4, 0xff));
}

/** Rows as they may be stored: few records and many, alike and not, and bytes that are no records. */
const someRow = fc.oneof(
  fc.array(someRecord, { minLength: 1, maxLength: 30 }).map(packedRecords),
  fc.array(someRecord, { minLength: 1, maxLength: 3 }).map((some) => packedRecords(Array(60).fill(some).flat())),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.integer({ min: 1, max: 400 }))
    .map(([bytes, times]) => Uint8Array.from(Buffer.alloc(bytes.length * times, bytes)))
    .filter((bytes) => bytes.length >= 4 && !isPacked(bytes)),
);

describe("a row of the tail", () => {
  it("comes back as it was, packed or not", () => {
    fc.assert(
      fc.property(someRow, (row) => {
        const data = packRecords(row);
        assert.ok(Buffer.from(unpackRecords(data)).equals(row));
        assert.equal(recordBytes(data), row.length);
        if (data === row) return;
        assert.ok(isPacked(data) && row.length >= 512 && data.length <= 0.8 * row.length);
      }),
      { numRuns: 500 },
    );
  });

  it("of alike records takes a fraction of their bytes", () => {
    assert.ok(isPacked(packed) && packed.length * 2 < unpacked.length, `${packed.length} of ${unpacked.length}`);
  });

  it("stays as it is where it is short, holds nothing alike, or is longer than any chunk", () => {
    const random = new Uint8Array(5000).map((_, at) => (Math.imul(at + 7, 0x9e3779b1) ^ (at * at * 31)) >>> 11);
    for (const row of [packedRecords(records.slice(0, 3)), random, Buffer.alloc(mostRecordBytes + 1)])
      assert.equal(packRecords(row), row);
    const longest = Buffer.alloc(mostRecordBytes, "ab");
    assert.ok(longest.equals(unpackRecords(packRecords(longest))));
  });

  it("tells the bytes of its records to SQL as to the program, and never an impossible number", () => {
    const database = new DatabaseSync(":memory:");
    const select = database.prepare(`select ${tailBytes} as bytes from (select ? as data)`);
    const bytesOf = (data: Uint8Array) => Number(select.get(data)?.bytes);
    fc.assert(
      fc.property(someRow, (row) => {
        for (const data of [row, packRecords(row)]) assert.equal(bytesOf(data), row.length);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.boolean(), (bytes, ofDigits) => {
        const lie = ofDigits ? bytes.map((byte) => 0x30 + (byte % 16)) : bytes;
        for (const bytes of [bytesOf, recordBytes].map((tell) => tell(Buffer.concat([Buffer.alloc(4, 0xff), lie]))))
          assert.ok(Number.isInteger(bytes) && bytes >= 0 && bytes <= mostRecordBytes, String(bytes));
      }),
    );
    database.close();
  });
});

/** What unpacking must not do with a damaged row: throw anything but `RecordsDamaged`, or give more than the header says. */
function unpackedOrDamaged(data: Uint8Array): Uint8Array | undefined {
  let found: Uint8Array;
  try {
    found = unpackRecords(data);
  } catch (error) {
    assert.ok(error instanceof RecordsDamaged, String(error));
    return undefined;
  }
  if (isPacked(data))
    assert.equal(found.length, Number(Buffer.from(data.subarray(4, headerLength)).toString("latin1")));
  return found;
}

describe("a damaged packed row", () => {
  it("is read as damaged, or gives as many bytes as its header says, whatever was changed", () => {
    const change = fc.record({ at: fc.nat(), value: fc.integer({ min: 0, max: 255 }) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 5 }), fc.option(fc.nat()), fc.uint8Array(), (changes, end, more) => {
        const data = packed.slice();
        for (const { at, value } of changes) data[at % data.length] = value;
        unpackedOrDamaged(Buffer.concat([data.subarray(0, end === null ? data.length : end % data.length), more]));
      }),
      { numRuns: 5000 },
    );
  });

  it("is read as damaged, or gives as many bytes as its header says, whatever follows its mark", () => {
    const lengths = fc.oneof(fc.integer({ min: 0, max: mostRecordBytes }), fc.constantFrom(99_999_999, "-1000000", ""));
    fc.assert(
      fc.property(lengths, fc.uint8Array({ maxLength: 300 }), (length, bytes) => {
        unpackedOrDamaged(Buffer.concat([headerOf(length), bytes]));
      }),
      { numRuns: 3000 },
    );
  });

  it("is noticed where any one bit of it was changed, by its own bytes or by the content keys of its records", () => {
    const chunk = { first: records[0]?.time ?? 0, last: records.at(-1)?.time ?? 0, count: records.length };
    assert.equal(checkChunk({ ...chunk, data: packed }).problem, undefined);
    for (let bit = 0; bit < packed.length * 8; bit++) {
      const data = packed.slice();
      data[bit >> 3] = (data[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => wholeRecords({ ...chunk, data, whole: false }), RecordsDamaged);
      if (checkChunk({ ...chunk, data }).problem !== undefined) continue;
      // Without a checksum of the row, nothing covers totals and times.
      const same = Buffer.from(unpackRecords(data));
      assert.equal(same.length, unpacked.length, `bit ${bit}`);
    }
  });

  it("takes no more memory than its header may say", () => {
    // One byte that is repeated 250 million times.
    const bomb = Buffer.concat([Buffer.from([0x9f, 0, 1, 0]), Buffer.alloc(1_000_000, 255), Buffer.from([0, 0])]);
    for (const length of [1, 1024, mostRecordBytes, 64 * 1024 * 1024])
      assert.throws(() => unpackRecords(Buffer.concat([headerOf(length), bomb])), RecordsDamaged);
  });

  it("is not damaged where memory runs out while it is unpacked", (context) => {
    // More than any machine has, so that Node says what it says where memory runs out.
    context.mock.method(Buffer, "allocUnsafe", () => Buffer.allocUnsafeSlow(Number.MAX_SAFE_INTEGER - 1));
    assert.throws(() => unpackRecords(packed), isOutOfMemory);
  });
});
