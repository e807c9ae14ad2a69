import type { components } from "../api/schema.ts";

type Stored = components["schemas"]["AlertRule"]["schedule"];
type Schedule = NonNullable<Stored>;

/** Days of the week, as the service names them; Monday is the first. */
export const weekdays = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const satisfies readonly Schedule["days"][number][];

/** When a rule looks, as a form has it. */
export interface ScheduleDraft {
  always: boolean;
  days: Schedule["days"];
  /** Local times; both "": the whole day. */
  from: string;
  to: string;
}

/** What the form begins with. */
export function scheduleDraft(schedule: Stored | undefined): ScheduleDraft {
  const { days = weekdays.slice(0, 5), from = "", to = "" } = schedule ?? {};
  return { always: !schedule, days: [...days], from, to };
}

/** What it means for the service; the zone of the schedule stays. */
export function scheduleOf({ always, days, from, to }: ScheduleDraft, before: Stored | undefined) {
  if (always) return null;
  return {
    ...(before?.timeZone && { timeZone: before.timeZone }),
    days: weekdays.filter((day) => days.includes(day)),
    ...(from !== "" && { from }),
    ...(to !== "" && { to }),
  };
}

/** A weekday in a language. */
export function dayName(day: number, language: string): string {
  // The first of January 2024 was a Monday.
  const moment = Date.UTC(2024, 0, 1 + day);
  return new Intl.DateTimeFormat(language, { weekday: "short", timeZone: "UTC" }).format(moment);
}
