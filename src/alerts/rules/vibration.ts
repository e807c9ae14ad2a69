import { alarmEvent } from "../families/alarm-event.ts";
import type { RuleType } from "../judge.ts";

/**
 * The tracker felt a vibration or a shock. A vehicle that shakes goes on shaking: reports of it up to ten minutes apart
 * are one.
 */
export const vibration: RuleType<"vibration"> = alarmEvent({ alarms: ["vibration", "shock"], goesOnMs: 10 * 60_000 });
