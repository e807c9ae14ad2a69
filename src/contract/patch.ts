import Type, { type Static } from "typebox";
import { jsonPointer } from "./forms.ts";
import { GivenText } from "./schema.ts";

const pointer = (description: string) =>
  GivenText({ description, documented: { pattern: jsonPointer }, examples: ["/name"] });
/** Fields that an operation needs. */
const operationForms = [
  { properties: { op: { enum: ["add", "replace", "test"] } }, required: ["value"] },
  { properties: { op: { enum: ["move", "copy"] } }, required: ["from"] },
  { properties: { op: { const: "remove" } } },
];

/** A JSON Patch (RFC 6902; specification 2.7), for users, groups and devices. */
export const PatchRequest = Type.Array(
  Type.Object(
    {
      op: Type.Unsafe<"add" | "remove" | "replace" | "move" | "copy" | "test">({
        type: "string",
        enum: ["add", "remove", "replace", "move", "copy", "test"],
      }),
      path: pointer("JSON Pointer (RFC 6901) of a field that can be set, or of a part of one."),
      from: Type.Optional(pointer("JSON Pointer; for move and copy.")),
      value: Type.Optional(Type.Unknown({ description: "For add, replace and test." })),
    },
    { documented: { oneOf: operationForms } },
  ),
  { maxItems: 1000, examples: [[{ op: "replace", path: "/name", value: "Truck 13" }]] },
);
export type PatchRequest = Static<typeof PatchRequest>;
