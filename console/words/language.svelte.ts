import { setting } from "../me/settings.svelte.ts";
import en from "./en.json";
import { type Quantity, quantityText, spanText } from "./units.ts";
import { textOf, type Values, type Words } from "./words.ts";

type Plural<K> = K extends `${infer Key}.one` | `${infer Key}.other` ? Key : K;
/** Keys of texts: those of the English file. */
export type Key = Plural<keyof typeof en>;

let words = $state.raw<Words>(en);
let loaded = $state("en");

/** Loads the texts of the chosen language. English is in the page; others come when they are asked for. */
export async function loadLanguage(): Promise<void> {
  const wanted = setting("language");
  words = wanted === "es" ? (await import("./es.json")).default : en;
  loaded = wanted;
  document.documentElement.lang = wanted;
}

/** The language that is shown. */
export function language(): string {
  return loaded;
}

/** A text in the person's language. */
export function t(key: Key, values?: Values): string {
  return textOf(words, loaded, key, values);
}

/** A text whose key is made of what the service says; what has none is shown as it came. */
export function named(group: string, name: string): string {
  const key = `${group}.${name}`;
  const text = textOf(words, loaded, key);
  return text === key ? name : text;
}

/** A quantity in the person's units. */
export function measured(value: number | undefined, quantity: Quantity): string {
  return value === undefined ? "–" : quantityText(value, quantity, setting("units"), loaded);
}

/** A time span. */
export function span(seconds: number): string {
  return spanText(seconds, loaded);
}

/** A moment in the person's zone: its time, and its day where that is not today. */
export function moment(value: string | number | null | undefined, now = Date.now()): string {
  if (value === undefined || value === null) return "–";
  const date = new Date(value);
  const timeZone = setting("timeZone") || undefined;
  const day = new Intl.DateTimeFormat(loaded, { dateStyle: "medium", timeZone });
  const time = new Intl.DateTimeFormat(loaded, { timeStyle: "medium", timeZone });
  return day.format(date) === day.format(now) ? time.format(date) : `${day.format(date)}, ${time.format(date)}`;
}

/** A day of the calendar, "2026-01-15". */
export function date(day: string): string {
  return new Intl.DateTimeFormat(loaded, { dateStyle: "medium", timeZone: "UTC" }).format(new Date(day));
}

/** How long ago something was. */
export function ago(value: string | number | null | undefined, now: number): string {
  if (value === undefined || value === null) return t("time.never");
  const seconds = (now - new Date(value).getTime()) / 1000;
  return seconds < 5
    ? t("time.now")
    : t("time.ago", { span: span(seconds < 60 ? seconds : Math.floor(seconds / 60) * 60) });
}

/** A number of the person's language. */
export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat(loaded, { maximumFractionDigits: digits }).format(value);
}
