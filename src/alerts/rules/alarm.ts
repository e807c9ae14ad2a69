import { alarmsAt, sourceOf } from "../families/alarm-event.ts";
import { noEvents, type RuleType } from "../judge.ts";

/** The tracker itself warns of one of these. Each of them is told by itself. */
export const alarm: RuleType<"alarm"> = {
  clock: "none",
  momentary: true,
  check: ({ alarms }) => (alarms.length === 0 ? ["alarms must name at least one alarm"] : []),
  judge({ alarms }) {
    const sources = alarms.map(sourceOf);
    return {
      kind: "events",
      judge(seen) {
        const found = alarmsAt(sources, seen);
        if (found.length === 0) return noEvents;
        const code = seen.observation?.attributes.alarmCode;
        return found.flatMap((place) => {
          const name = alarms[place];
          if (name === undefined) return [];
          return [{ alarm: name, ...(name === "general" && code !== undefined && { code: String(code) }) }];
        });
      },
    };
  },
};
