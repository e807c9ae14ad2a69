import assert from "node:assert/strict";
import { it } from "node:test";
import type { ValueSchema } from "../api/document.ts";
import { typesOf, valuesOf } from "./parameters.ts";

const body: ValueSchema = {
  oneOf: [
    {
      properties: {
        type: { type: "string", enum: ["speedOver"] },
        parameters: {
          properties: { kmh: { type: "number", minimum: 0, maximum: 500 } },
          required: ["kmh"],
        },
      },
    },
    {
      properties: {
        type: { type: "string", enum: ["inputOn"] },
        parameters: {
          properties: {
            input: { type: "integer", enum: [1, 2] },
            zones: { type: "array" },
            repeat: { type: "boolean" },
          },
        },
      },
    },
  ],
};

it("the fields of a type are those of the document", () => {
  const types = typesOf(body);
  assert.deepEqual([...types.keys()], ["speedOver", "inputOn"]);
  const none = { choices: [], minimum: undefined, maximum: undefined, required: false };
  assert.deepEqual(types.get("speedOver"), [
    { ...none, name: "kmh", kind: "number", required: true, minimum: 0, maximum: 500 },
  ]);
  assert.deepEqual(types.get("inputOn"), [
    { ...none, name: "input", kind: "choice", choices: [1, 2] },
    { ...none, name: "zones", kind: "zones" },
    { ...none, name: "repeat", kind: "flag" },
  ]);
});

it("values have the types of the document, and empty ones are left out", () => {
  const fields = typesOf(body).get("inputOn") ?? [];
  assert.deepEqual(valuesOf(fields, { input: "2", zones: ["a"], repeat: false, other: 1 }), {
    input: 2,
    zones: ["a"],
    repeat: false,
  });
  assert.deepEqual(valuesOf(typesOf(body).get("speedOver") ?? [], { kmh: "80" }), { kmh: 80 });
  assert.deepEqual(valuesOf(fields, { input: "", zones: undefined }), {});
});
