import type { Standing } from "../model/standing.ts";
import type { WatchedDevice } from "../ports/alert-engine.ts";
import type { CompiledRule } from "./compiled-rule.ts";
import { momentOf } from "./device-time.ts";
import { nextMoment } from "./evaluate.ts";
import { Seen } from "./judge.ts";
import { holding } from "./machine.ts";
import type { RuleState } from "./rule-state.ts";
import type { Due } from "./timers.ts";

const seen = new Seen();

/** Nothing is ever due. */
export const neverDue: Due = Object.freeze({
  at: Number.POSITIVE_INFINITY,
  quietMs: Number.POSITIVE_INFINITY,
  silent: false,
});

/** When time alone may change something in a device's rules. */
export function dueOf(
  device: WatchedDevice,
  standing: Standing,
  rules: readonly CompiledRule[],
  states: readonly RuleState[],
  heardAt: number,
  now: number,
): Due {
  let at = Number.POSITIVE_INFINITY;
  let quietMs = Number.POSITIVE_INFINITY;
  let silent = false;
  seen.device = device;
  seen.totals = standing.totals;
  seen.previous = standing.totals;
  seen.previousTime = standing.time;
  seen.now = now;
  seen.heardAt = heardAt;
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index];
    const own = states[index];
    if (rule === undefined || own === undefined) continue;
    if (!rule.timed && rule.clock === "none" && own.phase !== holding) continue;
    const moment = nextMoment(rule, own, seen);
    if (rule.rule.type === "offline" && !own.level) {
      // Moves with everything that is heard, so it is told as a time of quiet.
      if (heardAt > 0) quietMs = Math.min(quietMs, Math.max(0, moment - heardAt));
    } else if (moment !== Number.POSITIVE_INFINITY)
      at = Math.min(at, rule.clock === "arrival" ? moment : momentOf(standing, moment));
    if (rule.rule.type === "offline" && own.level) silent = true;
  }
  return at === neverDue.at && quietMs === neverDue.quietMs && !silent ? neverDue : { at, quietMs, silent };
}
