import assert from "node:assert/strict";
import { it } from "node:test";
import { misfitOf } from "./document.ts";

it("a value fits its schema, or it is said how it does not", () => {
  assert.equal(misfitOf("ab", { type: "string", minLength: 1, maxLength: 2, pattern: "^[a-z]+$" }), undefined);
  assert.equal(misfitOf("", { minLength: 1 }), "short");
  assert.equal(misfitOf("🚚🚚", { maxLength: 2 }), undefined);
  assert.equal(misfitOf("abc", { maxLength: 2 }), "long");
  assert.equal(misfitOf("a b", { pattern: "^[a-z]+$" }), "form");
  assert.equal(misfitOf("x", { type: ["number", "null"] }), "type");
  assert.equal(misfitOf(null, { type: ["number", "null"], minimum: 0 }), undefined);
  assert.equal(misfitOf(1.5, { type: "integer" }), "type");
  assert.equal(misfitOf(-1, { type: "number", minimum: 0 }), "low");
  assert.equal(misfitOf(11, { type: "number", maximum: 10 }), "high");
  assert.equal(misfitOf("mph", { enum: ["kn", null] }), "choice");
  assert.equal(misfitOf(["a", "b"], { type: "array", maxItems: 1 }), "many");
  assert.equal(misfitOf(["a", "!"], { type: "array", items: { pattern: "^[a-z]$" } }), "form");
  assert.equal(misfitOf({ plate: "x".repeat(3) }, { type: "object", additionalProperties: { maxLength: 2 } }), "long");
});
