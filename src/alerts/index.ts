export { type AlertEngineDeps, RuleEngine } from "./engine.ts";
