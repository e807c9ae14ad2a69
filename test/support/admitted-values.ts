import fc from "fast-check";
import type { Schema } from "./schema-values.ts";

type Values = fc.Arbitrary<unknown>;
type Components = Readonly<Record<string, Schema>>;

/**
 * Values that a schema of the OpenAPI document admits, or nearly (what it says by `not`, or by lookaheads, is for the
 * validator): all variants, edges of lengths and ranges, every field left out where it may be, and fields that it does
 * not name.
 */
export function admittedBy(given: Schema, components: Components): Values {
  const { oneOf, anyOf, ...schema } = whole(given, components);
  const variants = oneOf ?? anyOf;
  if (variants !== undefined)
    return fc.oneof(...variants.map((variant) => admittedBy(merged(schema, variant), components)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const types = [schema.type ?? "any"].flat();
  return fc.oneof(...types.map((type) => ofType(type, schema, components)));
}

/** With what it refers to. */
function whole({ $ref, allOf = [], ...schema }: Schema, components: Components): Schema {
  const parts = [...allOf, ...($ref === undefined ? [] : [components[$ref.split("/").at(-1) ?? ""] ?? {}])];
  return parts.reduce((sum, part) => merged(sum, whole(part, components)), schema);
}

/** What both admit. A field that one of them forbids is none. */
function merged(one: Schema, other: Schema): Schema {
  const properties: Record<string, Schema> = { ...one.properties };
  for (const [name, of] of Object.entries<Schema | boolean>(other.properties ?? {}))
    if (typeof of === "boolean") delete properties[name];
    else properties[name] = merged(properties[name] ?? {}, of);
  const required = [...new Set([...(one.required ?? []), ...(other.required ?? [])])];
  return { ...one, ...other, properties, required };
}

function ofType(type: string, schema: Schema, components: Components): Values {
  const { minimum = -1e9, maximum = 1e9, exclusiveMinimum } = schema;
  switch (type) {
    case "any":
      return anyJson(2);
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum));
    case "number": {
      const min = exclusiveMinimum ?? minimum;
      return fc
        .oneof(fc.double({ min, max: maximum, noNaN: true }), fc.constantFrom(min, maximum))
        .map((value) => (value === exclusiveMinimum ? maximum : value + 0));
    }
    case "array":
      return lists(schema, components);
    case "object":
      return objects(schema, components);
    default:
      return texts(schema);
  }
}

function lists({ items = {}, prefixItems, minItems = 0, maxItems = 4, uniqueItems }: Schema, of: Components): Values {
  if (prefixItems !== undefined) return fc.tuple(...prefixItems.map((item) => admittedBy(item, of)));
  const lengths = { minLength: minItems, maxLength: Math.min(Math.max(minItems, 4), maxItems) };
  const item = admittedBy(items, of);
  return uniqueItems === true ? fc.uniqueArray(item, lengths) : fc.array(item, lengths);
}

function objects(
  { properties = {}, required = [], additionalProperties, propertyNames }: Schema,
  of: Components,
): Values {
  const named = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, admittedBy(field, of)])),
    { requiredKeys: required.filter((name) => Object.hasOwn(properties, name)), noNullPrototype: true },
  );
  const name = texts({ maxLength: 12, ...propertyNames }).filter(
    (text) => !Object.hasOwn(properties, text) && !isReserved(text),
  );
  const more = typeof additionalProperties === "object" ? admittedBy(additionalProperties, of) : anyJson(1);
  return fc
    .tuple(fc.dictionary(name, more, { maxKeys: 2, noNullPrototype: true }), named)
    .map(([one, other]) => ({ ...one, ...other }));
}

/** Any JSON, but for fields with reserved names, however deep they lie. */
function anyJson(maxDepth: number): Values {
  return fc.jsonValue({ maxDepth }).filter((value) => !/"(?:__proto__|constructor)":/.test(JSON.stringify(value)));
}

/** Names that reach for JavaScript's prototypes: refused everywhere, as the document says at its beginning. */
function isReserved(name: string): boolean {
  return name === "__proto__" || name === "constructor";
}

const moments = fc.oneof(
  fc.constantFrom(
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999999-12:00",
    "2016-12-31T23:59:60Z",
    "2024-02-29t12:00:00z",
  ),
  fc
    .date({ noInvalidDate: true, min: new Date("0001-01-02"), max: new Date("9999-12-30") })
    .map((date) => date.toISOString()),
);

function texts({ examples = [], ...schema }: Schema): fc.Arbitrary<string> {
  const known = examples.filter((example) => typeof example === "string");
  const any = anyTexts(schema);
  return known.length === 0 ? any : fc.oneof(any, fc.constantFrom(...known));
}

function anyTexts({ format, pattern, minLength = 0, maxLength = 64 }: Schema): fc.Arbitrary<string> {
  if (format === "date-time") return moments;
  const long = maxLength <= 5000 ? ["x".repeat(maxLength)] : [];
  const any = fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, Math.max(minLength, 40)) });
  const edges = fc.constantFrom(...long, "x".repeat(Math.max(1, minLength)), ...(minLength === 0 ? [""] : []));
  const plain = fc.oneof({ weight: 4, arbitrary: any }, { weight: 1, arbitrary: edges });
  if (pattern === undefined) return plain;
  const form = new RegExp(pattern, "u");
  if (pattern.startsWith("^[^") || pattern.startsWith("^\\s*[^")) return plain.filter((text) => form.test(text));
  return matching(pattern).filter((text) => form.test(text) && text.length >= minLength && text.length <= maxLength);
}

const matchings = new Map<string, fc.Arbitrary<string>>();

/** Texts of a pattern, but for its lookaheads. Kept, as making them takes longer than all else that is done with them. */
function matching(pattern: string): fc.Arbitrary<string> {
  const texts =
    matchings.get(pattern) ?? fc.stringMatching(new RegExp(pattern.replaceAll(/\(\?[=!](?:[^()]|\([^()]*\))*\)/g, "")));
  matchings.set(pattern, texts);
  return texts;
}
