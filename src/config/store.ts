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
      "The most connections to the PostgreSQL database for everything but positions. Positions and the lock take five more. Each connection is a process of the server, and more than it has processors gain little; while all are taken, callers wait in order. The server's max_connections (100 unless changed) must have room for all.",
  }),
  packFromBytes: integer(67_108_864, {
    env: "WAYBEAM_STORE_PACK_FROM_BYTES",
    minimum: 16_384,
    maximum: 17_179_869_184,
    unit: "bytes",
    description:
      "The embedded store appends positions to a log, and packs the log into compressed blocks when it has this many bytes. A smaller log is packed after half an hour.",
  }),
  mostLogBytes: integer(1_073_741_824, {
    env: "WAYBEAM_STORE_MOST_LOG_BYTES",
    minimum: 16_384,
    maximum: 1_099_511_627_776,
    unit: "bytes",
    description:
      "While the log of the embedded store has more bytes than this, trackers wait for their acknowledgements until some of it is packed.",
  }),
});
