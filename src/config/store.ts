import Type from "typebox";
import { integer } from "./kinds.ts";

/** The embedded store. */
export const store = Type.Object({
  blockCacheBytes: integer(33_554_432, {
    env: "WAYBEAM_STORE_BLOCK_CACHE_BYTES",
    minimum: 0,
    maximum: 17_179_869_184,
    unit: "bytes",
    description:
      "Memory for decompressed blocks of positions, some 4 to 15 KB each. A block that is kept is decompressed only once for many late reports. If late reports reach more blocks than fit, each report takes 0.05 ms longer. 0 keeps none.",
  }),
});
