/**
 * Forms of texts that the code has as lists. Calls of the API give them; the document would only say how long they are.
 */
export function lists() {
  return [
    {
      $id: "CountryName",
      type: "string",
      description:
        "An ISO 3166-1 alpha-2 or alpha-3 code or an English name, in any case. GET users/countries lists the countries.",
      examples: ["CO", "COL", "Colombia"],
    },
    {
      $id: "TimeZoneName",
      type: "string",
      pattern: "/",
      description: "A name of the IANA database of the form Region/City, in any case. GET users/timeZones lists them.",
      examples: ["America/Bogota"],
    },
  ];
}

const named: Readonly<Record<string, string>> = { country: "CountryName#", timeZone: "TimeZoneName#" };

/** A schema as the document has it: with what `documented` adds to it, at whatever depth. */
export function documented<T>(schema: T): T;
export function documented(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item: unknown) => documented(item));
  if (typeof schema !== "object" || schema === null) return schema;
  const { documented: added, ...plain }: { readonly documented?: unknown } = { ...schema };
  const told = Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, documented(value)]));
  if (typeof added === "string") return ofList(told, added);
  return typeof added === "object" ? { ...told, ...added } : told;
}

/** A text of a list. Where null may stand too, beside it. */
function ofList({ type, pattern: _, ...told }: { readonly [name: string]: unknown }, list: string) {
  const text = { $ref: named[list] };
  return { ...told, ...(Array.isArray(type) ? { anyOf: [text, { type: "null" }] } : { allOf: [text] }) };
}
