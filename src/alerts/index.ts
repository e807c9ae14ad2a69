export { type AlertEngineDeps, RuleEngine } from "./engine.ts";
export { RuleTrial, type TrialDeps } from "./trial.ts";
