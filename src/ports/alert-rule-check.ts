import type { AlertRuleFields } from "../model/alert-rule.ts";

/**
 * Everything about a rule's own fields that makes no sense, each as its place (a JSON Pointer) and a sentence: a threshold out of range, a value to come back
 * to on the wrong side, a placeholder that there is not. What the rule refers to is not looked at. Empty: nothing.
 */
export type AlertRuleCheck = (fields: AlertRuleFields) => readonly string[];
