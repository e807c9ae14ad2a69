import { getAlpha2Codes, getNames, registerLocale } from "i18n-iso-countries/index.js";
import english from "i18n-iso-countries/langs/en.json" with { type: "json" };

/** English names of ISO 3166-1 and names of before that the packages below do not have. */
const alsoCalled = [
  "Bolivia (Plurinational State of)",
  "Cabo Verde",
  "Congo (the Democratic Republic of the)",
  "Democratic People's Republic of Korea",
  "Falkland Islands [Malvinas]",
  "Federated States of Micronesia",
  "Holy See",
  "Iran (Islamic Republic of)",
  "Korea (the Democratic People's Republic of)",
  "Korea (the Republic of)",
  "Macau",
  "Micronesia (Federated States of)",
  "Moldova (the Republic of)",
  "Netherlands (Kingdom of the)",
  "Palestine, State of",
  "Republic of Moldova",
  "Saint Helena, Ascension and Tristan da Cunha",
  "Swaziland",
  "Taiwan (Province of China)",
  "Tanzania, the United Republic of",
  "United Kingdom of Great Britain and Northern Ireland",
  "Venezuela (Bolivarian Republic of)",
  "Viet Nam",
  "Virgin Islands (British)",
  "Virgin Islands (U.S.)",
];

/** Has a code of the range for private use: no country of ISO 3166-1. */
const notAssigned = "XK";

interface Countries {
  /** English name of every country of ISO 3166-1 by its alpha-2 code, in the order of the codes. */
  readonly names: Readonly<Record<string, string>>;
  /** Everything that a country may be called, folded. */
  readonly known: ReadonlySet<string>;
}

let loaded: Countries | undefined;

/** Made by the first who asks: the runtime's own names take some MB. */
function countries(): Countries {
  loaded ??= load();
  return loaded;
}

function load(): Countries {
  registerLocale(english);
  const byCode = Object.entries(getNames("en", { select: "all" })).filter(([code]) => code !== notAssigned);
  // Shorter than the official ones (Laos, Syria).
  const ofRuntime = new Intl.DisplayNames("en", { type: "region" });
  const names = byCode.map(([code, [name = code]]): [string, string] => [code, name]);
  const codes = Object.entries(getAlpha2Codes()).filter(([code]) => code !== notAssigned);
  const called = byCode.flatMap(([code, all]) => [...all, ofRuntime.of(code) ?? code]);
  return {
    names: Object.freeze(Object.fromEntries(names.toSorted(([a], [b]) => (a < b ? -1 : 1)))),
    known: new Set([...codes.flat(), ...called, ...alsoCalled].map(folded)),
  };
}

/** English name of every country of ISO 3166-1 by its alpha-2 code, in the order of the codes. */
export function countryNames(): Readonly<Record<string, string>> {
  return countries().names;
}

/**
 * Whether a text is a country's alpha-2 or alpha-3 code or one of its English names. Case and accents make no
 * difference.
 */
export function isCountry(text: string): boolean {
  return countries().known.has(folded(text));
}

function folded(text: string): string {
  return (
    text
      .normalize("NFD")
      .replaceAll(/\p{Mn}/gu, "")
      .replaceAll("’", "'")
      .toLowerCase()
      // ISO's way to write an article: Bahamas (the).
      .replace(" (the)", "")
  );
}
