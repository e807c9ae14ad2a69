import Type from "typebox";
import { integer } from "./kinds.ts";

/** Sessions of people who sign in with a browser. */
export const sessions = Type.Object({
  idleSeconds: integer(86_400, {
    env: "WAYBEAM_SESSIONS_IDLE_SECONDS",
    minimum: 60,
    maximum: 31_536_000,
    unit: "s",
    description:
      "Time after which a session ends that is not used; a live stream that is open is use. A day: who works each day stays signed in, and a page that was closed does not.",
  }),
  longestSeconds: integer(2_592_000, {
    env: "WAYBEAM_SESSIONS_LONGEST_SECONDS",
    minimum: 60,
    maximum: 31_536_000,
    unit: "s",
    description:
      "Time after which a session ends even if it is used. 30 days, so that a cookie that was stolen is no use for ever.",
  }),
  perUser: integer(50, {
    env: "WAYBEAM_SESSIONS_PER_USER",
    minimum: 1,
    maximum: 1000,
    unit: "sessions",
    description:
      "Sessions of a user at a time; the one that was not used for longest makes room. More browsers than a person has, and a list that can be read.",
  }),
  triesPerMinute: integer(30, {
    env: "WAYBEAM_SESSIONS_TRIES_PER_MINUTE",
    minimum: 1,
    maximum: 1_000_000_000,
    unit: "requests",
    description:
      "Sign-ins in a minute from each address, right or wrong. Each costs some 30 ms of a thread; an office behind one address needs fewer.",
  }),
  wrongPerHour: integer(100, {
    env: "WAYBEAM_SESSIONS_WRONG_PER_HOUR",
    minimum: 1,
    maximum: 1_000_000_000,
    unit: "requests",
    description:
      "Wrong sign-ins in an hour for each e-mail address, from all addresses together. A browser from which the user has signed in before is not counted, and not kept out by what others try.",
  }),
});
