import type { Alert } from "../model/alert.ts";
import type { AlertType } from "../model/alert-rule.ts";
import type { Language } from "../model/language.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { areFactsOf, conditionOf, lastedMinutesOf } from "./facts.ts";
import { type Reader, type Show, showFor } from "./show.ts";
import type { AlertWords, Words } from "./words.ts";

const languages: Readonly<Record<Language, Words>> = { en, es };

/** The words of a language. */
export function wordsOf(language: Language): Words {
  return languages[language];
}

/**
 * What an alert says, in one line without a full stop: `Speed 92 km/h over the limit of 80`. Where its facts are not
 * those of its type, as they may be in an alert of another version, it is the type's title.
 */
export function alertText(alert: Pick<Alert, "type" | "phase" | "facts">, reader: Reader): string {
  return textOf(alert.type, alert, wordsOf(reader.language), showFor(reader));
}

function textOf<T extends AlertType>(
  type: T,
  { phase, facts }: Pick<Alert, "phase" | "facts">,
  { alerts, ended }: { readonly alerts: { readonly [K in T]: AlertWords<K> } } & Pick<Words, "ended">,
  show: Show,
): string {
  const own: AlertWords<T> = alerts[type];
  if (!areFactsOf(type, facts)) return own.title;
  if (phase === "raised") return own.raised(facts, show);
  const lastedMinutes = lastedMinutesOf(facts);
  if (lastedMinutes === undefined) return own.title;
  const condition = conditionOf(facts);
  if (condition !== undefined) return ended(own.raised(facts, show), condition, lastedMinutes, show);
  return own.over({ ...facts, lastedMinutes }, show);
}
