import { rounded, within } from "../families/check.ts";
import { noEvents, type RuleType } from "../judge.ts";
import { milleageOf } from "../values.ts";

/**
 * The mileage reaches a figure, or each multiple of it. Remembers how many it has reached; what was reached before the
 * rule came is none of its business.
 */
export const mileage: RuleType<"mileage"> = {
  clock: "none",
  momentary: true,
  sums: true,
  check: ({ km }) => within("km", km, 0.001, 100_000_000, "km"),
  judge({ km, repeat }) {
    const reached = (value: number) => (repeat ? Math.floor(value / km) : value >= km ? 1 : 0);
    return {
      kind: "events",
      judge(seen) {
        if (seen.observation === undefined) return noEvents;
        const value = milleageOf(seen);
        const count = reached(value);
        const known = seen.memory[0];
        const before = known ?? reached(seen.device.odometerStart + seen.previous.odometerMm / 1_000_000);
        if (count !== known) seen.memory = [count];
        return count > before ? [{ value: rounded(value), limit: repeat ? rounded(count * km) : km }] : noEvents;
      },
    };
  },
};
