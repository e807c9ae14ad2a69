/** A column of JSON text as a list of strings; anything else in it is left out. */
export function stringList(text: string): readonly string[] {
  if (text === "[]") return [];
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** A column of JSON text as a map of strings. */
export function stringMap(text: string): { readonly [name: string]: string } {
  if (text === "{}") return {};
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) return {};
  // fromEntries, so that a name such as `__proto__` stays a name.
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** A column of JSON text as a list of strings, or null where it was never set. */
export function optionalList(text: string): readonly string[] | null {
  return text === "null" ? null : stringList(text);
}

/** A column of JSON text that this program alone writes: it is what was written, so `T` is what its writer took. */
export function written<T>(text: string): T {
  return JSON.parse(text);
}
