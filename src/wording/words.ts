import type { Alarm } from "../model/alarms.ts";
import type { AlertFactsOf, ConditionFacts, OverFacts } from "../model/alert-facts.ts";
import type { AlertType } from "../model/alert-rule.ts";
import type { Show } from "./show.ts";

/** What an alert of a type says. Plain text without a full stop, of one line. */
export interface AlertWords<T extends AlertType> {
  /** The type's name, also the text of an alert whose facts are not known. */
  readonly title: string;
  raised(facts: AlertFactsOf[T], show: Show): string;
  over(facts: AlertFactsOf[T] & OverFacts, show: Show): string;
}

/** What surrounds an alert's text in a notice. */
export interface NoticeWords {
  readonly critical: string;
  readonly over: string;
  readonly late: string;
  readonly device: string;
  readonly alert: string;
  readonly when: string;
  readonly where: string;
  readonly unknownPlace: string;
  readonly speed: string;
  readonly mileage: string;
  readonly showOnMap: string;
  /** Why the reader gets this. */
  why(rule: string): string;
}

/** A language: every type of alert in both phases, and the notice around it. */
export interface Words {
  readonly alerts: { readonly [T in AlertType]: AlertWords<T> };
  /**
   * What an alert says that is over only because a condition is true no longer. `raised`: what it said when it was
   * raised.
   */
  ended(raised: string, condition: ConditionFacts, lastedMinutes: number, show: Show): string;
  readonly notice: NoticeWords;
  /** What an alert says beside its own text where there were too many at a time. */
  leftOut(alerts: number, notices: number): string;
  /** Before the text of an alert that was not so. */
  withdrawn(text: string): string;
}

/** Facts of something measured. */
export interface Against {
  readonly value: number;
  readonly limit: number;
}

/** Facts of something that lasts, minutes. */
export interface Lasts {
  readonly minutes: number;
  readonly limit: number;
}

/** Facts of something that is over. */
export type Ended = OverFacts;

/** What the level of a tank is told in. */
export function levelOf({ unit }: AlertFactsOf["fuelLess"]): "share" | "volume" {
  return unit === "litres" ? "volume" : "share";
}

/** What an alarm says in a language; one that is not known there has the name that it came with. */
export function alarmText(texts: Readonly<Record<Alarm, string>>, { alarm, code }: AlertFactsOf["alarm"]): string {
  const known: Readonly<Record<string, string>> = texts;
  const text = Object.hasOwn(known, alarm) ? (known[alarm] ?? alarm) : alarm;
  return code === undefined ? text : `${text} ${code}`;
}

/** A duration and its limit, where the two look different: `12 min` and ` (limit 10 min)`. */
export function lasting(facts: Lasts, show: Show, word: string): string {
  const [minutes, limit] = [show.duration(facts.minutes), show.duration(facts.limit)];
  return minutes === limit ? minutes : `${minutes} (${word} ${limit})`;
}
