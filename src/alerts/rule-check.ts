import type { AlertCondition, AlertRuleFields } from "../model/alert-rule.ts";
import { unknownPlaceholders } from "../wording/index.ts";
import { checkAttribute, checkNumericAttribute } from "./families/attribute.ts";
import { needsOf, problemsOf, ruleTypes, thresholdOf } from "./rules/index.ts";
import { longestInForceMs } from "./schedule.ts";

/** Everything about a rule's own fields that makes no sense: the check of `src/ports/alert-rule-check.ts`. */
export function checkRule(rule: AlertRuleFields): readonly string[] {
  return [
    ...problemsOf(rule.type, rule.parameters).map((problem) => `/parameters: ${problem}`),
    ...rule.conditions.flatMap((condition, index) =>
      problemsOfCondition(condition).map((problem) => `/conditions/${index}: ${problem}`),
    ),
    ...problemsOfCalm(rule),
    ...unknownPlaceholders(rule.text ?? "").map((name) => `/text: there is no placeholder {{${shortened(name)}}}`),
  ];
}

/** What a rule needs in readings: `AlertRuleNeeds` of the same port. */
export function needsOfRule({ type, parameters }: AlertRuleFields): readonly string[] {
  const needs = needsOf(type, parameters);
  return needs === undefined ? [] : [`/parameters: ${needs}`];
}

function problemsOfCondition(condition: AlertCondition): readonly string[] {
  if ("zone" in condition) return [];
  const { attribute, operator, value } = condition;
  if (operator === "equal") return checkAttribute(attribute, value);
  if (typeof value !== "number") return [`value must be a number, to be ${operator} than`];
  return checkNumericAttribute(attribute, value);
}

function problemsOfCalm(rule: AlertRuleFields): readonly string[] {
  const { holdSeconds, rearmAt } = rule.hysteresis;
  const problems: string[] = [];
  if (ruleTypes[rule.type].momentary) {
    const lasts = `${rule.type} happens at a moment and does not last`;
    if (holdSeconds > 0) problems.push(`/hysteresis/holdSeconds: ${lasts}`);
    if (rule.notifyWhenOver) problems.push(`/notifyWhenOver: ${lasts}`);
    if (rule.notifyOnlyWhenOver) problems.push(`/notifyOnlyWhenOver: ${lasts}`);
  }
  const inForceMs =
    rule.schedule === null || rule.schedule.days.length === 0 ? undefined : longestInForceMs(rule.schedule);
  if (inForceMs !== undefined && holdSeconds * 1000 >= inForceMs)
    problems.push(
      `/hysteresis/holdSeconds: must be less than the ${inForceMs / 1000} seconds of the schedule's longest period`,
    );
  if (rearmAt === null) return problems;
  const threshold = thresholdOf(rule.type, rule.parameters);
  if (threshold === undefined) problems.push(`/hysteresis/rearmAt: ${rule.type} has no threshold`);
  else if (threshold.side === "over" && rearmAt > threshold.limit)
    problems.push(`/hysteresis/rearmAt: must not be over the threshold, ${threshold.limit}`);
  else if (threshold.side === "under" && rearmAt < threshold.limit)
    problems.push(`/hysteresis/rearmAt: must not be under the threshold, ${threshold.limit}`);
  return problems;
}

/** A name in braces may be as long as the text. */
function shortened(name: string): string {
  return name.length > 40 ? `${name.slice(0, 40).toWellFormed()}…` : name;
}
