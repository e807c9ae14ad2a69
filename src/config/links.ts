import Type from "typebox";
import { integer } from "./kinds.ts";

/** Links by which anybody may see where devices are. */
export const links = Type.Object({
  perUser: integer(100, {
    env: "WAYBEAM_LINKS_PER_USER",
    minimum: 1,
    maximum: 10_000,
    unit: "links",
    description:
      "Links that a user may have at a time; a further one is answered with 409. A dispatcher makes some dozens a day.",
  }),
  longestDays: integer(366, {
    env: "WAYBEAM_LINKS_LONGEST_DAYS",
    minimum: 1,
    maximum: 3660,
    unit: "days",
    description:
      "The longest that a link may last: a year for a school's bus. Whoever forgets one shares no longer than that.",
  }),
  requestsPerMinute: integer(300, {
    env: "WAYBEAM_LINKS_REQUESTS_PER_MINUTE",
    minimum: 1,
    maximum: 1_000_000,
    unit: "requests/min",
    description:
      "Requests a minute by one link, whoever makes them: some hundred people may open it at once, and its maker's own requests are not used up.",
  }),
});
