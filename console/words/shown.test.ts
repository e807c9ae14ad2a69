import assert from "node:assert/strict";
import { it } from "node:test";
import { isolated, labelOf, shownText } from "./shown.ts";

it("texts are shown as they are, but for what can't be seen", () => {
  assert.equal(shownText("Año <b>1</b>\nمرحبا"), "Año <b>1</b>\nمرحبا");
  assert.equal(shownText("a\u0000b\u001b[31mc\u007f\u0085"), "a␀b␛[31mc␡�");
  assert.equal(shownText("gpj.\u202Eexe"), "gpj.�exe");
  assert.equal(isolated("a\u2069\u202Bb"), "\u2068a��b\u2069");
  assert.equal(isolated("a"), "\u2068a\u2069");
});

it("a name on a map is cut where it would cover the map, and never within a letter", () => {
  assert.equal(labelOf("Truck 7"), "Truck 7");
  assert.equal(labelOf("a\n\n\tb"), "a b");
  assert.equal(labelOf("x".repeat(10_000)), `${"x".repeat(40)}…`);
  assert.equal(labelOf("\u{1F69A}".repeat(41)), `${"\u{1F69A}".repeat(40)}…`);
});
