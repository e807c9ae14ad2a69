import assert from "node:assert/strict";
import { test } from "node:test";
import type { SchemaObject } from "ajv";
import fc from "fast-check";
import { NewDevice } from "../contract/device.ts";
import { detailsOf } from "./details.ts";
import { inputValidator } from "./validator.ts";

const compile = inputValidator();

/** What an answer says of an input. */
function saidOf(schema: SchemaObject, input: unknown): readonly string[] {
  const validate = compile({ schema, method: "POST", url: "/" });
  return validate(input) === true ? [] : detailsOf(validate.errors ?? [], "body");
}

const texts = { type: "array", items: { type: "string", minLength: 1 } };

test("all problems are named, in the order of the schema", () => {
  const input = { id: ".", name: 5, tags: { a: 1, b: 2, [`${"n".repeat(300)}`]: "" }, expires: "soon" };
  assert.deepEqual(saidOf(NewDevice, input), [
    "body/id: must be 1 to 64 of letters, digits, - _ . : @ + / and neither . nor ..",
    "body/name: must be string or null",
    `body/tags/${"n".repeat(194)}…: its name must not have more than 128 characters`,
    "body/tags/a: must be string",
    "body/tags/b: must be string",
    "body/expires: must be an RFC 3339 date-time",
  ]);
  assert.deepEqual(saidOf(NewDevice, {}), ["body/id: is required"]);
  assert.deepEqual(saidOf(NewDevice, { id: "a" }), []);
});

test("no more than an answer shows, and of hostile inputs the first", () => {
  assert.equal(saidOf(texts, Array(15_000).fill(1)).length, 20);
  assert.deepEqual(saidOf(texts, Array(500_000).fill(1)), ["body/0: must be string"]);
  assert.deepEqual(saidOf(texts, Array(15_000).fill([1, 2])), ["body/0: must be string"]);
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  assert.deepEqual(saidOf(texts, deep), ["body/0: must be string"]);
});

test("what one validation finds wrong the other does too: there is always a first problem, and only where there is one", () => {
  const compared = compile({ schema: NewDevice, method: "POST", url: "/" });
  const value = fc.oneof(fc.constantFrom(null, 1, "a", ".", "2026-01-01", "x".repeat(300)), fc.jsonValue());
  const input = fc.record(
    { id: value, name: value, tags: value, aliases: value, expires: value },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(input, (body) => {
      const details = saidOf(NewDevice, body);
      assert.equal(compared(body) === true, details.length === 0);
      assert.equal(new Set(details).size, details.length);
    }),
  );
});

test("of variants the one counts that a property names, wherever they stand; its problems say where they are", () => {
  const variant = (name: string, parameters: SchemaObject) => ({
    type: "object",
    properties: { type: { type: "string", enum: [name] }, parameters },
    required: ["parameters"],
  });
  const speed = { type: "object", properties: { kmh: { type: "number" } }, required: ["kmh"] };
  const rule = {
    type: "object",
    properties: { type: { type: "string", enum: ["speed", "zone"] } },
    required: ["type"],
    discriminator: { propertyName: "type" },
    oneOf: [variant("speed", speed), variant("zone", { type: "object" })],
  };
  const rules = { type: "object", properties: { rules: { type: "array", items: rule } } };
  assert.deepEqual(saidOf(rule, { type: "speed", parameters: { kmh: 1 } }), []);
  assert.deepEqual(saidOf(rule, { type: "zone", parameters: {} }), []);
  assert.deepEqual(saidOf(rule, { type: "speed" }), ["body/parameters: is required"]);
  assert.deepEqual(saidOf(rule, { type: "other" }), ["body/type: must be one of speed, zone"]);
  for (const nothing of [null, [], "speed", 5]) assert.deepEqual(saidOf(rule, nothing), ["body: must be object"]);
  assert.deepEqual(
    saidOf(rules, {
      rules: [
        { type: "zone", parameters: {} },
        { type: "speed", parameters: {} },
      ],
    }),
    ["body/rules/1/parameters/kmh: is required"],
  );
  assert.deepEqual(saidOf(rules, { rules: [{ type: "speed", parameters: { kmh: "1" } }, {}] }), [
    "body/rules/0/parameters/kmh: must be number",
    "body/rules/1/type: is required",
  ]);
});
