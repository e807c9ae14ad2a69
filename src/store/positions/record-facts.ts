import { factsOf } from "../../fold/step.ts";
import { readableExtras } from "../../model/location-json.ts";
import type { RecordFacts } from "./record-view.ts";

/** What is known of extras, or of a text that has their names and states. */
export function recordFactsOf(extras: string): RecordFacts {
  return {
    ...factsOf(extras),
    hasAccuracy: extras.includes('"accuracy":"'),
    hasAlarms: extras.includes('"alarms":"'),
    hasNotFinite: readableExtras(extras) !== extras,
  };
}
