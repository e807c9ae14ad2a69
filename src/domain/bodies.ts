/** Fields of the envelope: a client that sends back what it was answered sends them too. */
const envelope: readonly string[] = ["success", "error", "apiUsage", "apiDailyUsage", "warnings"];

/** Warnings of a body's fields that are neither settable nor such as an answer has; they are not used. */
export function unknownFields(
  body: object,
  settable: readonly string[],
  shown: readonly string[],
  where = "body",
): readonly string[] {
  return Object.keys(body)
    .filter((name) => !settable.includes(name) && !shown.includes(name) && !envelope.includes(name))
    .map((name) => `${where}/${name}: not a field that can be set; ignored`);
}

/** Warnings of fields in a question that are none of its own: a misspelt one would else answer another question in silence. */
export function unknownTerms(body: object, terms: object): readonly string[] {
  return Object.keys(body)
    .filter((name) => !Object.hasOwn(terms, name))
    .map((name) => `body/${name}: not a field of this request; ignored`);
}

/** Unknown parts that one answer warns of. */
const mostWarned = 20;

/**
 * Warnings of all fields in a part of a body that its schema does not have, at whatever depth. Of a `oneOf` the variants of the same `type` count.
 * The body's own fields beside it are for `unknownFields`.
 */
export function unknownParts(value: unknown, schema: unknown, where: string): readonly string[] {
  const found: string[] = [];
  look(value, schema, where, found);
  return found.slice(0, mostWarned);
}

function look(value: unknown, schema: unknown, where: string, found: string[]): void {
  if (!isRecord(schema)) return;
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) look(item, schema.items, `${where}/${index}`, found);
  if (!isRecord(value) || !isRecord(schema.properties)) return;
  const properties = { ...schema.properties, ...variantOf(schema.oneOf, value.type) };
  for (const [name, part] of Object.entries(value))
    if (Object.hasOwn(properties, name)) look(part, properties[name], `${where}/${name}`, found);
    else found.push(`${where}/${name}: not a field that can be set; ignored`);
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
