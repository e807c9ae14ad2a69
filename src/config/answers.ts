import Type from "typebox";
import { integer } from "./kinds.ts";

/** What answers may hold while they are made and read. */
export const answers = Type.Object({
  requestsAtOnce: integer(100, {
    env: "WAYBEAM_ANSWERS_REQUESTS_AT_ONCE",
    minimum: 1,
    maximum: 100_000,
    unit: "requests",
    description:
      "Requests of one user that may be under way at a time; a further one is answered with 429. More than any client needs, since a browser opens 6 connections, and few enough that one client can't take the service's memory.",
  }),
  requestsAtOncePerAccount: integer(250, {
    env: "WAYBEAM_ANSWERS_REQUESTS_AT_ONCE_PER_ACCOUNT",
    minimum: 1,
    maximum: 100_000,
    unit: "requests",
    description: "The same for all users of an account together.",
  }),
  unreadMegabytes: integer(16, {
    env: "WAYBEAM_ANSWERS_UNREAD_MEGABYTES",
    minimum: 1,
    maximum: 100_000,
    unit: "MB",
    description:
      "Bytes of answers that may wait in memory for one user to read them; a history counts as 1.25 MB while it is open. Beyond it the user's next requests are answered with 429, so that a client that does not read stops itself alone.",
  }),
  unreadMegabytesPerAccount: integer(48, {
    env: "WAYBEAM_ANSWERS_UNREAD_MEGABYTES_PER_ACCOUNT",
    minimum: 1,
    maximum: 100_000,
    unit: "MB",
    description: "The same for all users of an account together.",
  }),
  unreadMegabytesInAll: integer(192, {
    env: "WAYBEAM_ANSWERS_UNREAD_MEGABYTES_IN_ALL",
    minimum: 1,
    maximum: 100_000,
    unit: "MB",
    description:
      "The same for all accounts together, a share of the process's memory; beyond it a request is answered with 503, unless nothing waits for its account.",
  }),
  unreadSeconds: integer(15, {
    env: "WAYBEAM_ANSWERS_UNREAD_SECONDS",
    minimum: 1,
    maximum: 60,
    unit: "s",
    description:
      "Time in which a connection must take some of an answer that waits for it; else it is closed. Where several connections take nothing, some stay up to twice as long. Long enough for a mobile client in a tunnel, short enough that what waits is soon free again.",
  }),
});
