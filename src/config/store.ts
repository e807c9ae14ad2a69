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
      "Memory for unpacked blocks of positions, each 25 to 180 KB: late reports into the same hours unpack them once. Where late reports reach more blocks than fit, each of them takes 0.2 ms longer. 0: none are kept.",
  }),
});
