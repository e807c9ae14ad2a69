import { hash } from "node:crypto";
import type { AlertFacts } from "../model/alert.ts";
import type { AnyAlertFacts } from "../model/alert-facts.ts";
import { type AlertRule, worksWithout } from "../model/alert-rule.ts";
import { type ConditionJudge, conditionJudge } from "./conditions.ts";
import { type Judge, noZone } from "./judge.ts";
import type { Calm } from "./machine.ts";
import { judgeOf, ruleTypes } from "./rules/index.ts";
import { Schedule } from "./schedule.ts";

/** A rule made ready to be asked for each fix. */
export interface CompiledRule {
  readonly rule: AlertRule;
  /** Fingerprint of what it judges by; its state is carried on as long as this stays. */
  readonly judged: number;
  /** Tells rules and what they judge by apart, 32 bits. */
  readonly print: number;
  readonly clock: "none" | "event" | "arrival";
  readonly momentary: boolean;
  /** It looks at sums over the whole history. */
  readonly sums: boolean;
  readonly judge: Judge<AnyAlertFacts>;
  /** The present names of the rule's zones. */
  readonly zoneNames: readonly string[];
  readonly calm: Calm;
  readonly schedule: Schedule | undefined;
  readonly conditions: readonly ConditionJudge[];
  /** What an alert carries that ends because a condition is true no longer, of each. */
  readonly conditionFacts: readonly AlertFacts[];
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

/**
 * Fingerprint, 32 bits, of the part of a rule that says what it finds and when: type, parameters, conditions, schedule
 * and hysteresis. Name, text, recipients and the like change nothing in an alert that stands, nor does the order in
 * which fields are written.
 */
function fingerprintOf({ type, parameters, conditions, schedule, hysteresis }: AlertRule): number {
  const text = JSON.stringify([type, parameters, conditions, schedule, hysteresis], (_name, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return Number.parseInt(hash("sha256", text).slice(0, 8), 16);
}

/** Whether a rule compares the mileage. */
function namesSum({ parameters, conditions }: AlertRule): boolean {
  const names = [parameters, ...conditions].map((one) => ("attribute" in one ? one.attribute : undefined));
  return names.includes("milleage");
}

/** Makes a rule ready; undefined: too many of the zones that it names are gone, and it can't be judged. */
export function compileRule(
  rule: AlertRule,
  zoneOf: (id: string) => NamedZone | undefined,
  accountZone: string,
): CompiledRule | undefined {
  if (!worksWithout(rule, (id) => zoneOf(id) === undefined)) return undefined;
  const type = ruleTypes[rule.type];
  // One that is gone keeps its place, by which judges remember zones.
  const zones = ("zones" in rule.parameters ? rule.parameters.zones : []).map(zoneOf);
  const zoneNames = zones.map((zone) => zone?.name ?? "");
  const { holdSeconds, cooldownSeconds, rearmAt } = rule.hysteresis;
  const schedule = rule.schedule === null ? undefined : new Schedule(rule.schedule, accountZone);
  const judged = fingerprintOf(rule);
  return {
    rule,
    judged,
    print: (judged ^ Math.imul(rule.key, 0x9e3779b1)) >>> 0,
    clock: type.clock,
    momentary: type.momentary,
    sums: type.sums === true || namesSum(rule),
    judge: judgeOf(rule.type, rule.parameters, {
      rearmAt,
      zones: zones.map((zone) => zone?.index ?? noZone),
      zoneNames,
    }),
    zoneNames,
    calm: { holdMs: type.momentary ? 0 : holdSeconds * 1000, cooldownMs: cooldownSeconds * 1000 },
    schedule,
    conditions: rule.conditions.map((condition) => conditionJudge(condition, (id) => zoneOf(id)?.index)),
    conditionFacts: rule.conditions.map((condition) =>
      "zone" in condition
        ? { condition: zoneOf(condition.zone)?.name ?? "", operator: condition.operator }
        : { condition: condition.attribute, operator: condition.operator, wanted: condition.value },
    ),
    allConditions: 2 ** rule.conditions.length - 1,
    timed: type.clock === "event" || (schedule !== undefined && type.clock === "none"),
  };
}
