import type { AnyAlertFacts } from "../model/alert-facts.ts";
import { type AlertRule, zonesOf } from "../model/alert-rule.ts";
import { type ConditionJudge, conditionJudge } from "./conditions.ts";
import type { Judge } from "./judge.ts";
import type { Calm } from "./machine.ts";
import { judgeOf, ruleTypes } from "./rules/index.ts";
import { Schedule } from "./schedule.ts";

/** A rule made ready to be asked for each fix. */
export interface CompiledRule {
  readonly rule: AlertRule;
  readonly clock: "none" | "event" | "arrival";
  readonly late: boolean;
  readonly momentary: boolean;
  readonly judge: Judge<AnyAlertFacts>;
  readonly calm: Calm;
  readonly schedule: Schedule | undefined;
  readonly conditions: readonly ConditionJudge[];
  /** The bits of all conditions. */
  readonly allConditions: number;
  /** Time alone may change something even where nothing is being held: it is looked at before each fix. */
  readonly timed: boolean;
}

/** A zone's place in the account's zones, and its name. */
export interface NamedZone {
  readonly index: number;
  readonly name: string;
}

/** Makes a rule ready; undefined: it names a zone that is gone, and can't be judged. */
export function compileRule(
  rule: AlertRule,
  zoneOf: (id: string) => NamedZone | undefined,
  accountZone: string,
): CompiledRule | undefined {
  if (zonesOf(rule).some((id) => zoneOf(id) === undefined)) return undefined;
  const type = ruleTypes[rule.type];
  const zones = ("zones" in rule.parameters ? rule.parameters.zones : []).flatMap((id) => zoneOf(id) ?? []);
  const { holdSeconds, cooldownSeconds, rearmAt } = rule.hysteresis;
  const schedule = rule.schedule === null ? undefined : new Schedule(rule.schedule, accountZone);
  return {
    rule,
    clock: type.clock,
    late: type.late,
    momentary: type.momentary,
    judge: judgeOf(rule.type, rule.parameters, {
      rearmAt,
      zones: zones.map(({ index }) => index),
      zoneNames: zones.map(({ name }) => name),
    }),
    calm: { holdMs: type.momentary ? 0 : holdSeconds * 1000, cooldownMs: cooldownSeconds * 1000 },
    schedule,
    conditions: rule.conditions.map((condition) => conditionJudge(condition, (id) => zoneOf(id)?.index)),
    allConditions: 2 ** rule.conditions.length - 1,
    timed: type.clock === "event" || (schedule !== undefined && type.clock === "none"),
  };
}
