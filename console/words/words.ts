/**
 * A language's texts by key. `{name}` stands for a value; a key that ends in `.one` or `.other` is chosen by the number
 * `count`.
 */
export type Words = Readonly<Record<string, string>>;

/** Values of a text's places. */
export type Values = Readonly<Record<string, string | number>>;

/** The text of a key in a language. `language` chooses the plural form and the form of numbers. */
export function textOf(words: Words, language: string, key: string, values: Values = {}): string {
  const text = words[key] ?? (values.count === undefined ? undefined : words[pluralKey(language, key, values)]);
  if (text === undefined) return key;
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => shown(values[name], language) ?? place);
}

function pluralKey(language: string, key: string, values: Values): string {
  const form = new Intl.PluralRules(language).select(Number(values.count));
  return `${key}.${form === "one" ? "one" : "other"}`;
}

function shown(value: string | number | undefined, language: string): string | undefined {
  return typeof value === "number" ? new Intl.NumberFormat(language).format(value) : value;
}
