import type { AlertType } from "./alert-rule.ts";
import type { DeviceKey } from "./device.ts";
import type { Language } from "./language.ts";

/**
 * The evidence: what was measured and what it was compared with, in the units of the API, under names that the wording
 * of the alert's type knows (`value`, `limit`, `zone`, `input`, `minutes` ...).
 */
export type AlertFacts = { readonly [name: string]: string | number | boolean };

/**
 * `raised`: it became true · `over`: it is true no longer · `withdrawn`: an alert of that time, of a beginning or an
 * end, was wrong, as records show that came later.
 */
export type AlertPhase = "raised" | "over" | "withdrawn";

/** Something that a rule found. Immutable once committed. */
export interface Alert {
  /** Public identifier (UUID). */
  readonly id: string;
  readonly device: DeviceKey;
  readonly ruleKey: number;
  /** Public id and name of the rule, as they were then. */
  readonly ruleId: string;
  readonly name: string;
  readonly type: AlertType;
  readonly phase: AlertPhase;
  /** Event time: of the fix that caused it, or the moment at which time alone made it true. */
  readonly time: number;
  /** When it was found. */
  readonly raisedAt: number;
  /** Where; null before the first position ever. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  /** km/h, of the fix that caused it. */
  readonly speed: number | null;
  readonly critical: boolean;
  /** Found because of records that came after newer ones. */
  readonly late: boolean;
  readonly facts: AlertFacts;
  /** What happened, in the account's language, zone and units; the rule's own text, filled in, where it has one. */
  readonly text: string;
}

/** What an alert tells, or what a withdrawn one told: only ends say how long it lasted. */
export function toldBy({ phase, facts }: Pick<Alert, "phase" | "facts">): "raised" | "over" {
  return phase === "over" || (phase === "withdrawn" && facts.lastedMinutes !== undefined) ? "over" : "raised";
}

/**
 * Alerts that were not withdrawn. Of each that was, the withdrawal must be among them; it has the facts of the alert.
 */
export function standingAlerts<T extends Pick<Alert, "ruleKey" | "time" | "phase" | "facts">>(
  alerts: readonly T[],
): readonly T[] {
  const name = (alert: T) => JSON.stringify([alert.ruleKey, alert.time, toldBy(alert), alert.facts]);
  const gone = new Map<string, number>();
  for (const alert of alerts) if (alert.phase === "withdrawn") gone.set(name(alert), (gone.get(name(alert)) ?? 0) + 1);
  if (gone.size === 0) return alerts;
  return alerts.filter((alert) => {
    if (alert.phase === "withdrawn") return false;
    const count = gone.get(name(alert)) ?? 0;
    if (count > 0) gone.set(name(alert), count - 1);
    return count === 0;
  });
}

/** Where an alert stands: nobody has seen to it · somebody does · nothing is left to do. */
export type AlertState = "open" | "acknowledged" | "closed";

/** What somebody did with an alert. */
export interface AlertAct {
  readonly at: number;
  /** The user's e-mail address, as it was then; null: it closed by itself. */
  readonly user: string | null;
  readonly note: string | null;
}

/** What became of an alert. One of the phase `over` or `withdrawn` is closed from the start. */
export interface AlertHandling {
  readonly state: AlertState;
  /** Event time of the end of what it tells. */
  readonly endedAt: number | null;
  readonly acknowledged: AlertAct | null;
  readonly closed: AlertAct | null;
}

/** The end of a rule's alerts, whether people are told of it or not. */
export interface AlertEnd {
  readonly ruleKey: number;
  /**
   * Id of an alert that is withdrawn: it closes even if it is critical, and no other alert ends. Absent: all open
   * alerts up to that time end.
   */
  readonly withdrawn?: string;
  /** Event time of the end. */
  readonly time: number;
  /** When it was found. */
  readonly foundAt: number;
}

/** What the alerts of one fix add to its location. */
export interface LocationAlerts {
  /** Names and texts, in the same order. */
  readonly alerts: readonly { readonly name: string; readonly text: string; readonly critical: boolean }[];
}

/** What rules found at records, by event time, as these alerts stand. */
export function foundByTime(
  alerts: readonly Pick<Alert, "ruleKey" | "time" | "phase" | "facts" | "name" | "text" | "critical">[],
): ReadonlyMap<number, LocationAlerts> {
  const raised = standingAlerts(alerts).filter(({ phase }) => phase === "raised");
  const byTime = Map.groupBy(raised, ({ time }) => time);
  return new Map(
    [...byTime].map(([time, own]) => [
      time,
      { alerts: own.map(({ name, text, critical }) => ({ name, text, critical })) },
    ]),
  );
}

/** How alerts of an account are worded where no recipient says otherwise. */
export interface AccountWording {
  readonly language: Language;
  readonly timeZone: string;
}
