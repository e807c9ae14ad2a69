/** Logs, metrics, health, the raw message trace, and the implementations of Clock and Ids. */
export { systemClock } from "./clock.ts";
export { createHealth, type Health, type HealthCheck, type Readiness } from "./health.ts";
export { systemIds } from "./ids.ts";
export { createLog, type LogLevel, type LogOutput } from "./log.ts";
export { giveBackMemory } from "./memory.ts";
export { createMetrics, type MetricsRegistry } from "./metrics.ts";
export { createQuarantine } from "./quarantine.ts";
export { createTrace, type TraceLimits } from "./trace.ts";
export { systemUser } from "./user.ts";
