import { within } from "../families/check.ts";
import { no, type RuleType, yes } from "../judge.ts";

const dayMs = 86_400_000;

/** The device's date of expiry comes within so many days, or has come. */
export const expired: RuleType<"expired"> = {
  clock: "arrival",
  momentary: false,
  check: ({ days }) => within("days", days, 0, 3650),
  judge: ({ days }) => ({
    kind: "level",
    judge({ device, observation, now, time }) {
      if (device.expires === null) return no;
      return (observation === undefined ? time : now) >= device.expires - days * dayMs ? yes : no;
    },
    due: ({ device }) => (device.expires === null ? Number.POSITIVE_INFINITY : device.expires - days * dayMs),
    facts({ device, now }) {
      const expires = device.expires ?? now;
      return { expires, days: Math.max(0, Math.ceil((expires - now) / dayMs)) };
    },
  }),
};
