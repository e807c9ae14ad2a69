import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { dayIn, secondsToNextDayIn } from "../model/account-day.ts";
import { payloadOf } from "./command-payload.ts";

const bytes = fc.uint8Array({ minLength: 0, maxLength: 64 });

test("Text is UTF-8, exactly as given; half a surrogate pair is refused", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.deepEqual(payloadOf("Text", text), new Uint8Array(Buffer.from(text, "utf8")));
    }),
  );
  assert.equal(typeof payloadOf("Text", "a\ud800"), "string");
  assert.deepEqual(payloadOf("Text", "\0\ufeffé\r\n"), new Uint8Array([0, 0xef, 0xbb, 0xbf, 0xc3, 0xa9, 13, 10]));
});

test("Hex: any case, with spaces and hyphens anywhere", () => {
  const separator = fc.constantFrom("", " ", "-", "  ", " - ");
  const digits = bytes.chain((wanted) =>
    fc.tuple(
      fc.constant(wanted),
      fc.array(fc.tuple(separator, fc.boolean()), {
        minLength: wanted.length * 2 + 1,
        maxLength: wanted.length * 2 + 1,
      }),
    ),
  );
  fc.assert(
    fc.property(digits, ([wanted, noise]) => {
      const hex = [...wanted.toHex()];
      const text = noise
        .map(([gap, upper], at) => gap + (upper ? (hex[at] ?? "").toUpperCase() : (hex[at] ?? "")))
        .join("");
      assert.deepEqual(payloadOf("Hex", text), wanted);
    }),
  );
  for (const bad of ["7", "7 8 7", "0x78", "78,79", "7g", "78\t79", "78\n", "７８", "٧٨", "78_79"])
    assert.equal(typeof payloadOf("Hex", bad), "string", bad);
});

test("Base64: with its padding, and nothing beside it", () => {
  fc.assert(fc.property(bytes, (wanted) => assert.deepEqual(payloadOf("Base64", wanted.toBase64()), wanted)));
  for (const bad of [
    "QQ",
    "QQ=",
    "QQ===",
    "Q",
    "QQ== ",
    " QQ==",
    "QQ\n==",
    "QR==",
    "_-==",
    "Q=Q=",
    "QQ==QQ==",
    "==",
    "=",
  ])
    assert.equal(typeof payloadOf("Base64", bad), "string", bad);
});

test("any text in any format gives bytes or a sentence", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("Text", "Hex", "Base64"),
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.string({ unit: fc.constantFrom("a", "F", "0", " ", "-", "=", "+", "\ud800") }),
      ),
      (format, text) => {
        const payload = payloadOf(format, text);
        assert.ok(payload instanceof Uint8Array || payload.length > 0);
      },
    ),
  );
});

test("a day of an account begins at its own midnight, and need not have 24 hours", () => {
  const noon = Date.UTC(2026, 10, 21, 12);
  assert.equal(dayIn("Etc/UTC", noon), "2026-11-21");
  assert.equal(secondsToNextDayIn("Etc/UTC", noon), 43_200);
  assert.equal(dayIn("America/Bogota", Date.UTC(2026, 10, 22, 4, 59, 59)), "2026-11-21");
  assert.equal(dayIn("America/Bogota", Date.UTC(2026, 10, 22, 5)), "2026-11-22");
  assert.equal(secondsToNextDayIn("Europe/Paris", Date.UTC(2026, 2, 28, 23)), 23 * 3600);
  assert.equal(secondsToNextDayIn("Europe/Paris", Date.UTC(2026, 9, 24, 22)), 25 * 3600);
  // Midnight of this day does not exist there.
  assert.equal(secondsToNextDayIn("America/Santiago", Date.UTC(2026, 8, 6, 3, 59)), 60);
  const zones = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));
  const times = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
  fc.assert(
    fc.property(zones, times, (zone, now) => {
      const seconds = secondsToNextDayIn(zone, now);
      assert.ok(seconds >= 1 && seconds <= 48 * 3600);
      assert.notEqual(dayIn(zone, now + seconds * 1000), dayIn(zone, now));
      if (seconds > 1) assert.equal(dayIn(zone, now + (seconds - 1) * 1000 - 1), dayIn(zone, now));
    }),
  );
});
