import { getAlpha2Codes, getNames, registerLocale } from "i18n-iso-countries/index.js";
import english from "i18n-iso-countries/langs/en.json" with { type: "json" };

/** Has a code of the range for private use: no country of ISO 3166-1. */
const notAssigned = "XK";

registerLocale(english);
const namesByCode = Object.entries(getNames("en", { select: "all" })).filter(([code]) => code !== notAssigned);

/** English name of every country of ISO 3166-1 by its alpha-2 code, in the order of the codes. */
export const countryNames: Readonly<Record<string, string>> = Object.freeze(
  Object.fromEntries(
    namesByCode.map(([code, [name = code]]): [string, string] => [code, name]).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ),
);

const known: ReadonlySet<string> = new Set([
  ...Object.entries(getAlpha2Codes())
    .filter(([code]) => code !== notAssigned)
    .flat()
    .map(folded),
  ...namesByCode.flatMap(([code, names]) => [...names, displayNames().of(code) ?? code].map(folded)),
]);

/** Whether a text is a country's alpha-2 or alpha-3 code or one of its English names. Case and accents make no difference. */
export function isCountry(text: string): boolean {
  return known.has(folded(text));
}

/** The names that the runtime has: shorter than the official ones (Laos, Syria). */
function displayNames(): Intl.DisplayNames {
  return new Intl.DisplayNames("en", { type: "region" });
}

function folded(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .replaceAll("’", "'")
    .toLowerCase();
}
