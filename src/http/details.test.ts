import assert from "node:assert/strict";
import { test } from "node:test";
import { detailsOf } from "./details.ts";

test("null among the values of a choice is named", () => {
  const error = {
    keyword: "enum",
    instancePath: "/format",
    schemaPath: "",
    params: { allowedValues: ["Text", "Hex", "Base64", null] },
  };
  assert.deepEqual(detailsOf([error], "body"), ["body/format: must be one of Text, Hex, Base64, null"]);
});
