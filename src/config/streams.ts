import Type from "typebox";
import { integer } from "./kinds.ts";

/** How many live streams may be open. */
export const streams = Type.Object({
  perUser: integer(20, {
    env: "WAYBEAM_STREAMS_PER_USER",
    minimum: 1,
    maximum: 1_000_000,
    unit: "streams",
    description:
      "Live streams of one user that may be open at a time; a further one is answered with 429. A person has some tabs and a phone, a program one stream.",
  }),
  perAccount: integer(1000, {
    env: "WAYBEAM_STREAMS_PER_ACCOUNT",
    minimum: 1,
    maximum: 1_000_000,
    unit: "streams",
    description: "The same for all users of an account together: half of all, so that others have places too.",
  }),
  inAll: integer(2000, {
    env: "WAYBEAM_STREAMS_IN_ALL",
    minimum: 1,
    maximum: 1_000_000,
    unit: "streams",
    description:
      "The same for all accounts together; a further one is answered with 503. Each is a connection, and half of `http.connections` stays free for requests. One that does not read holds 64 KB.",
  }),
});
