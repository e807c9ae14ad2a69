import { getAlpha2Codes, getNames, registerLocale } from "i18n-iso-countries/index.js";
import english from "i18n-iso-countries/langs/en.json" with { type: "json" };

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
    known: new Set([...codes.flat(), ...called].map(folded)),
  };
}

/** English name of every country of ISO 3166-1 by its alpha-2 code, in the order of the codes. */
export function countryNames(): Readonly<Record<string, string>> {
  return countries().names;
}

/** Whether a text is a country's alpha-2 or alpha-3 code or one of its English names. Case and accents make no difference. */
export function isCountry(text: string): boolean {
  return countries().known.has(folded(text));
}

function folded(text: string): string {
  return text
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .replaceAll("’", "'")
    .toLowerCase();
}
