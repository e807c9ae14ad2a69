import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { shortened, shortenedTo } from "./shorten.ts";

/**
 * Letters, blanks, and characters of several units: an emoji of a family, a flag, an accent of its own, a line's end.
 */
const piece = fc.constantFrom("a", "b ", "  ", "é", "e\u0301", "👨‍👩‍👧", "🇨🇴", "\r\n", "ñ", "…", "\u{1f600}");
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));

test("a shortened text is the longest beginning that fits, as found by trying each", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 60 }), (whole, most) => {
      const tried = shortenedTo(whole, (candidate) => candidate.length <= most);
      assert.equal(shortened(whole, most), tried);
    }),
  );
});

test("a text is cut before what a reader sees as one character", () => {
  assert.equal(shortened("Berta 👨‍👩‍👧 and more", 12), "Berta...");
  assert.equal(shortened("Berta", 5), "Berta");
  assert.equal(shortened("Bertas", 5), "Be...");
  assert.equal(shortened("Bertas", 2), "");
});
