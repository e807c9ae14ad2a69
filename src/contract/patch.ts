import Type, { type Static } from "typebox";

/** A JSON Patch (RFC 6902; specification 2.7), for users, groups and devices. */
export const PatchRequest = Type.Array(
  Type.Object({
    op: Type.Unsafe<"add" | "remove" | "replace" | "move" | "copy" | "test">({
      type: "string",
      enum: ["add", "remove", "replace", "move", "copy", "test"],
    }),
    path: Type.String({ description: "JSON Pointer (RFC 6901).", examples: ["/name"] }),
    from: Type.Optional(Type.String({ description: "JSON Pointer; for move and copy." })),
    value: Type.Optional(Type.Unknown({ description: "For add, replace and test." })),
  }),
  { maxItems: 1000, examples: [[{ op: "replace", path: "/name", value: "Truck 13" }]] },
);
export type PatchRequest = Static<typeof PatchRequest>;
