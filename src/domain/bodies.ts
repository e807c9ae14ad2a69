/** Fields of the envelope: a client that sends back what it was answered sends them too. */
const envelope: readonly string[] = ["success", "error", "apiUsage", "apiDailyUsage", "warnings"];

/** Warnings of a body's fields that are neither settable nor such as an answer has; they are not used. */
export function unknownFields(
  body: object,
  settable: readonly string[],
  shown: readonly string[],
  where = "body",
): readonly string[] {
  return warnedOf(
    Object.keys(body).filter((name) => !settable.includes(name) && !shown.includes(name) && !envelope.includes(name)),
    (name) => `${where}/${name}: not a field that can be set; ignored`,
    where,
  );
}

/**
 * Warnings of fields in a question that are none of its own: a misspelt one would else answer another question in
 * silence.
 */
export function unknownTerms(body: object, terms: object): readonly string[] {
  return warnedOf(
    Object.keys(body).filter((name) => !Object.hasOwn(terms, name)),
    (name) => `body/${name}: not a field of this request; ignored`,
    "body",
  );
}

/**
 * Unknown fields that one answer warns of, and the characters of a name in it: a body may hold 100,000 of them, or one
 * of a megabyte.
 */
const mostWarned = 20;
const longestShown = 200;

/** A text of a request as an answer repeats it: cut where it is very long. */
export function shownText(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

function warnedOf(names: readonly string[], warning: (name: string) => string, where: string): readonly string[] {
  const named = names.slice(0, mostWarned).map((name) => warning(shownText(name)));
  const more = names.length - named.length;
  return more === 0 ? named : [...named, `${where}: ${more} more fields are not known; ignored`];
}

/**
 * Warnings of all fields in a part of a body that its schema does not have, at whatever depth. Of a `oneOf` the
 * variants of the same `type` count. The body's own fields beside it are for `unknownFields`.
 */
export function unknownParts(value: unknown, schema: unknown, where: string): readonly string[] {
  const found: string[] = [];
  look(value, schema, where, found);
  return found;
}

function look(value: unknown, schema: unknown, where: string, found: string[]): void {
  if (!isRecord(schema)) return;
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) look(item, schema.items, `${where}/${index}`, found);
  if (!isRecord(value) || !isRecord(schema.properties)) return;
  const properties = { ...schema.properties, ...variantOf(schema.oneOf, value.type) };
  for (const [name, part] of Object.entries(value))
    if (Object.hasOwn(properties, name)) look(part, properties[name], `${where}/${name}`, found);
    else if (found.length < mostWarned) found.push(`${where}/${shownText(name)}: not a field that can be set; ignored`);
}

/** The properties of the variant for a type. */
function variantOf(variants: unknown, type: unknown): { readonly [name: string]: unknown } {
  for (const variant of Array.isArray(variants) ? variants : []) {
    const properties: unknown = isRecord(variant) ? variant.properties : undefined;
    if (!isRecord(properties) || !isRecord(properties.type) || !Array.isArray(properties.type.enum)) continue;
    if (properties.type.enum.includes(type)) return properties;
  }
  return {};
}

function isRecord(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
