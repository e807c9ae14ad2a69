import type { AlertCondition, AlertHysteresis, AlertRuleFields, AlertSchedule } from "../model/alert-rule.ts";
import { unknownPlaceholders } from "../wording/index.ts";
import { zonesOf } from "./compiled-rule.ts";
import { checkAttribute, checkNumericAttribute } from "./families/attribute.ts";
import { within } from "./families/check.ts";
import { problemsOf, ruleTypes, thresholdOf } from "./rules/index.ts";

/** Conditions of a rule: each is asked for each fix, and has a bit in the rule's state. */
const mostConditions = 16;
/** Longest that something can be asked to hold: a week; and the longest cooldown: a month, s. */
const longestHold = 604_800;
const longestCooldown = 2_678_400;
const timeOfDay = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;

/** Everything that is wrong with a rule, as sentences. `zoneExists`: asked for each zone that the rule names, by id. */
export function checkRule(fields: AlertRuleFields, zoneExists: (id: string) => boolean): readonly string[] {
  const missing = [...new Set(zonesOf(fields))].filter((id) => !zoneExists(id));
  return [
    ...problemsOf(fields.type, fields.parameters),
    ...missing.map((id) => `geofence ${id} does not exist`),
    ...checkConditions(fields.conditions),
    ...(fields.schedule === null ? [] : checkSchedule(fields.schedule)),
    ...checkHysteresis(fields),
    ...checkOver(fields),
    ...(fields.text === null ? [] : unknownPlaceholders(fields.text).map((name) => `{{${name}}} is no placeholder`)),
  ];
}

function checkConditions(conditions: readonly AlertCondition[]): readonly string[] {
  const many = conditions.length > mostConditions ? [`a rule has at most ${mostConditions} conditions`] : [];
  return [
    ...many,
    ...conditions.flatMap((condition, index) =>
      checkCondition(condition).map((problem) => `condition ${index + 1}: ${problem}`),
    ),
  ];
}

function checkCondition(condition: AlertCondition): readonly string[] {
  if ("zone" in condition) return [];
  const { attribute, operator, value } = condition;
  if (operator === "equal") return checkAttribute(attribute, value);
  if (typeof value !== "number") return [`value must be a number for ${operator}`];
  return checkNumericAttribute(attribute, value);
}

function checkSchedule({ days, from, to, timeZone }: AlertSchedule): readonly string[] {
  return [
    ...(days.length === 0 ? ["schedule has no day"] : []),
    ...(timeOfDay.test(from) ? [] : ["schedule.from must be a time, HH:MM"]),
    ...(timeOfDay.test(to) ? [] : ["schedule.to must be a time, HH:MM"]),
    ...(timeZone === null || isTimeZone(timeZone) ? [] : [`there is no time zone ${timeZone}`]),
  ];
}

function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

function checkHysteresis(fields: AlertRuleFields): readonly string[] {
  const { holdSeconds, rearmAt, cooldownSeconds }: AlertHysteresis = fields.hysteresis;
  const problems = [
    ...within("hysteresis.holdSeconds", holdSeconds, 0, longestHold),
    ...within("hysteresis.cooldownSeconds", cooldownSeconds, 0, longestCooldown),
  ];
  if (holdSeconds > 0 && ruleTypes[fields.type].momentary)
    problems.push(`${fields.type} happens at a moment: it can't be asked to hold`);
  if (rearmAt === null) return problems;
  const threshold = thresholdOf(fields.type, fields.parameters);
  if (threshold === undefined)
    problems.push(`${fields.type} has no threshold that hysteresis.rearmAt could be passed back to`);
  else if (!(threshold.side === "over" ? rearmAt <= threshold.limit : rearmAt >= threshold.limit))
    problems.push(
      `hysteresis.rearmAt must be ${threshold.side === "over" ? "at most" : "at least"} the threshold, ${threshold.limit}`,
    );
  return problems;
}

function checkOver({ type, notifyWhenOver, notifyOnlyWhenOver }: AlertRuleFields): readonly string[] {
  if (!(notifyWhenOver || notifyOnlyWhenOver) || !ruleTypes[type].momentary) return [];
  return [`${type} happens at a moment: it is never over, so nobody can be told of that`];
}
