import { everyCountryName } from "../../domain/countries.ts";
import { everyTimeZone } from "../../domain/time-zones.ts";

/** The forms that the code has as lists: components of the document, so that each list stands there once. */
export function lists() {
  return [
    list(
      "CountryName",
      everyCountryName(),
      "ISO 3166-1 alpha-2 and alpha-3 codes and English names; taken in any case.",
    ),
    list("TimeZoneName", everyTimeZone(), "Names of the IANA database of the form Region/City; taken in any case."),
  ];
}

const named: Readonly<Record<string, string>> = { country: "CountryName#", timeZone: "TimeZoneName#" };

/** As a pattern, which is for texts alone: beside it may stand null, and clients made from the document have no type of a thousand names. */
function list($id: string, names: readonly string[], description: string) {
  const escaped = names.map((name) =>
    name.replaceAll(/[.*+?^${}()|[\]\\/-]/g, (sign) => (sign === "-" || sign === "/" ? sign : `\\${sign}`)),
  );
  return { $id, description, pattern: `^(?:${escaped.join("|")})$` };
}

/** A schema as the document has it: with what `documented` adds to it, at whatever depth. */
export function documented<T>(schema: T): T;
export function documented(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => documented(item));
  if (typeof schema !== "object" || schema === null) return schema;
  const { documented: added, ...plain }: { readonly documented?: unknown } = { ...schema };
  const told = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, documented(value)]));
  if (typeof added === "string") return { ...told, allOf: [{ $ref: named[added] }] };
  return typeof added === "object" ? { ...told, ...added } : told;
}
