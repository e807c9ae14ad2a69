import type { AlertRuleFields } from "../model/alert-rule.ts";

/**
 * Everything about a rule's own fields that makes no sense, each as its place (a JSON Pointer) and a sentence: a
 * threshold out of range, a value to come back to on the wrong side, a placeholder that there is not. What the rule
 * refers to is not looked at. Empty: nothing.
 */
export type AlertRuleCheck = (fields: AlertRuleFields) => readonly string[];

/**
 * What a rule needs in readings to find anything, each as its place and a sentence. Empty: nothing that its parameters
 * do not say.
 */
export type AlertRuleNeeds = (fields: AlertRuleFields) => readonly string[];

/** What is wrong with the template of a webhook's body: no JSON, a placeholder that there is not. */
export type TemplateCheck = (template: string) => readonly string[];

/**
 * Why a webhook may never be called, as far as its URL tells: its host is an address that is forbidden. Undefined: it
 * may, or the host is a name, which is judged at each call.
 */
export type WebhookCheck = (url: URL) => string | undefined;
