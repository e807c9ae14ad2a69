import { checkMinutes, minuteMs, minutesOf } from "../families/check.ts";
import { no, type RuleType, yes } from "../judge.ts";

/** Nothing was heard of the device for so long, by our clock: what it reports late was not heard before either. */
export const offline: RuleType<"offline"> = {
  clock: "arrival",
  momentary: false,
  check: ({ minutes }) => checkMinutes(minutes, 1),
  judge: ({ minutes }) => ({
    kind: "level",
    judge({ observation, heardAt, time, now, held, silentUntil }) {
      const isSilent = observation === undefined && heardAt > 0 && time >= heardAt + minutes * minuteMs;
      return isSilent && (held || now >= silentUntil) ? yes : no;
    },
    due: ({ heardAt }) => (heardAt > 0 ? heardAt + minutes * minuteMs : Number.POSITIVE_INFINITY),
    facts: ({ heardAt, time }) => ({
      minutes: Math.max(minutes, minutesOf(time - heardAt)),
      limit: minutes,
      lastHeard: heardAt,
    }),
  }),
};
