import { alarmEvent } from "../families/alarm-event.ts";
import type { RuleType } from "../judge.ts";

/** The tracker felt a vibration or a shock. */
export const vibration: RuleType<"vibration"> = alarmEvent(["vibration", "shock"]);
