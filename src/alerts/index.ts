export { type AlertEngineDeps, RuleEngine } from "./engine.ts";
export { checkRule, needsOfRule } from "./rule-check.ts";
export { RuleTrial, type TrialDeps } from "./trial.ts";
