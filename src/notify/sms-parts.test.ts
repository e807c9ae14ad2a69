import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { SmsBody } from "../ports/sms.ts";
import { encodeSms } from "./sms-parts.ts";

function lengths(body: SmsBody): number[] | undefined {
  return encodeSms(body, 7)?.parts.map((part) => part.length);
}

/** The parts put together again as a phone does, without their headers. */
function joined(body: SmsBody): Buffer {
  const { parts } = encodeSms(body, 7) ?? { parts: [] };
  return Buffer.concat(parts.length === 1 ? parts : parts.map((part) => part.subarray(6)));
}

test("limits of one message: 160 septets, 140 octets", () => {
  assert.deepEqual(lengths({ text: "a".repeat(160) }), [160]);
  assert.deepEqual(lengths({ text: "a".repeat(161) }), [159, 14]);
  assert.deepEqual(lengths({ text: "ж".repeat(70) }), [140]);
  assert.deepEqual(lengths({ text: "ж".repeat(71) }), [140, 14]);
  assert.deepEqual(lengths({ bytes: new Uint8Array(140) }), [140]);
  assert.deepEqual(lengths({ bytes: new Uint8Array(141) }), [140, 13]);
});

test("characters of the extension table count twice and are not cut in two", () => {
  assert.deepEqual(lengths({ text: `${"a".repeat(159)}€` }), [158 + 1, 6 + 8]);
  assert.deepEqual(lengths({ text: `${"a".repeat(152)}€${"a".repeat(20)}` }), [6 + 152, 6 + 22]);
});

test("surrogate pairs are not cut in two, and a lone one becomes the replacement character", () => {
  assert.deepEqual(lengths({ text: `${"ж".repeat(66)}😀${"ж".repeat(10)}` }), [6 + 132, 6 + 24]);
  assert.deepEqual(joined({ text: "\ud800" }), Buffer.from("fffd", "hex"));
});

test("an escape in a text does not become one of the alphabet", () => {
  assert.equal(encodeSms({ text: "a\x1be" }, 0)?.dataCoding, 8);
});

test("more parts than a header can count are refused", () => {
  assert.equal(lengths({ bytes: new Uint8Array(255 * 134) })?.length, 255);
  assert.equal(lengths({ bytes: new Uint8Array(255 * 134 + 1) }), undefined);
});

test("whatever is sent arrives whole, in parts that fit and are numbered", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "€", "[", "é", "ж", "😀", "\n"), minLength: 1, maxLength: 600 });
  const gsm = fc.string({ unit: fc.constantFrom("a", "€", "[", "é", "#"), minLength: 1, maxLength: 900 });
  const body: fc.Arbitrary<SmsBody> = fc.oneof(
    fc.record({ text }),
    fc.record({ text: gsm }),
    fc.record({ bytes: fc.uint8Array({ minLength: 1, maxLength: 900 }) }),
  );
  fc.assert(
    fc.property(body, fc.nat(255), (message, reference) => {
      const encoded = encodeSms(message, reference);
      assert.ok(encoded);
      const { dataCoding, parts } = encoded;
      const whole = joined(message);
      if ("bytes" in message) assert.deepEqual(whole, Buffer.from(message.bytes));
      else if (dataCoding === 8) assert.equal(whole.swap16().toString("utf16le"), message.text);
      else
        assert.equal(
          whole.length,
          [...message.text].reduce((sum, c) => sum + ("€[".includes(c) ? 2 : 1), 0),
        );
      const most = dataCoding === 0 ? (parts.length > 1 ? 159 : 160) : 140;
      parts.forEach((part, index) => {
        assert.ok(part.length <= most && part.length > 0);
        if (parts.length > 1) assert.deepEqual([...part.subarray(0, 6)], [5, 0, 3, reference, parts.length, index + 1]);
      });
    }),
  );
});
