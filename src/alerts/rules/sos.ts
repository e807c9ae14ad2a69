import { alarmEvent } from "../families/alarm-event.ts";
import type { RuleType } from "../judge.ts";

/** Somebody pressed the tracker's button for help. */
export const sos: RuleType<"sos"> = alarmEvent({ alarms: ["sos"] });
