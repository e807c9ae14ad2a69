import Type from "typebox";
import { integer, optionalText } from "./kinds.ts";

/** Where everything is kept. */
export const store = Type.Object({
  url: optionalText({
    env: "WAYBEAM_STORE_URL",
    maxLength: 4096,
    pattern: "^(postgres(ql)?://.+)?$",
    example: "postgresql://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full, or nothing",
    secret: true,
    description:
      "URI of a PostgreSQL database (version 15 or later), in libpq's form. The database holds everything but keys and credentials, which stay in the data folder. Empty: the embedded store in the data folder.",
  }),
  connections: integer(10, {
    env: "WAYBEAM_STORE_CONNECTIONS",
    minimum: 2,
    maximum: 1000,
    unit: "connections",
    description:
      "The most connections to the PostgreSQL database for everything but positions. Positions and the lock take six more. Each connection is a process of the server, and more than it has processors gain little; while all are taken, callers wait in order. The server's max_connections (100 unless changed) must have room for all.",
  }),
  blockCacheBytes: integer(33_554_432, {
    env: "WAYBEAM_STORE_BLOCK_CACHE_BYTES",
    minimum: 0,
    maximum: 17_179_869_184,
    unit: "bytes",
    description:
      "Memory for decompressed blocks of positions, some 4 to 15 KB each. A block that is kept is decompressed only once for many late reports. If late reports reach more blocks than fit, each report takes 0.05 ms longer. 0 keeps none.",
  }),
});
