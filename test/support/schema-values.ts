import fc from "fast-check";

/** A JSON Schema as the OpenAPI document has them for what is sent. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  /** Variants of an object that has more fields beside them. */
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly format?: string;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly uniqueItems?: boolean;
  readonly prefixItems?: readonly Schema[];
  readonly propertyNames?: Schema;
  readonly allOf?: readonly Schema[];
  readonly const?: unknown;
  readonly $ref?: string;
}

type Values = fc.Arbitrary<unknown>;

/** Moments at the edges of what is one. */
const moments = fc.oneof(
  fc.constantFrom(
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59.999-01:00",
    "2026-02-29T00:00:00Z",
    "2026-12-31T23:59:60Z",
    "2026-01-01",
    "+010000-01-01T00:00:00Z",
  ),
  fc
    .date({ min: new Date("1970-01-01T00:00:00Z"), max: new Date("2100-01-01T00:00:00Z"), noInvalidDate: true })
    .map((date) => date.toISOString()),
);

/** Texts that trouble parsers, stores and loggers. */
export const hostileTexts: readonly string[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "x\udfff",
  "\u2028\r\n",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "NaN",
  "-0",
  "1e999",
  "..",
  "a/b",
  "' OR 1=1 --",
  "%00%",
  "\u202e\ufeff",
  "🚚".repeat(80),
  "x".repeat(5000),
];

/** Values that no schema means. */
const hostile: Values = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, -0, 0.5, 1e308, 2 ** 53, -(2 ** 63), [], {}, [null], [[]]),
  fc.constantFrom<unknown>(...hostileTexts),
  moments,
  fc.jsonValue({ maxDepth: 3 }),
);

/** Made once: making it takes longer than drawing from it. */
const plainTexts = fc.stringMatching(/^[A-Za-z0-9]{1,12}$/);

/** Values that a schema accepts, or nearly: those of its examples first. */
export function valuesOf(schema: Schema): Values {
  const { examples = [], anyOf, type } = schema;
  const choices: Values[] = examples.length > 0 ? [fc.constantFrom(...examples)] : [];
  if (schema.enum !== undefined) choices.push(fc.constantFrom(...schema.enum));
  // What the fields of an object ask of each other is not looked at here.
  else if (anyOf !== undefined && type !== "object") choices.push(...anyOf.map(valuesOf));
  else for (const one of [type ?? []].flat()) choices.push(valuesOfType(one, schema));
  return choices.length === 0 ? hostile : fc.oneof(...choices);
}

function valuesOfType(type: string, schema: Schema): Values {
  const { minimum = -1e9, maximum = 1e9, minLength = 0, maxLength = 64 } = schema;
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.oneof(
        fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31) }),
        fc.constantFrom(minimum, maximum),
      );
    case "number":
      return fc.oneof(fc.double({ min: minimum, max: maximum, noNaN: true }), fc.constantFrom(minimum, maximum));
    case "array":
      return fc.array(valuesOf(schema.items ?? {}), { maxLength: 4 });
    case "object":
      return objects(schema);
    default:
      if (schema.format === "date-time") return moments;
      if (schema.pattern !== undefined) return plainTexts;
      return fc.string({ minLength, maxLength: Math.min(maxLength, 64), unit: "grapheme" });
  }
}

function objects({ oneOf = [], ...schema }: Schema): Values {
  const { properties = {}, required = [], additionalProperties } = schema;
  if (oneOf.length > 0)
    return fc.oneof(
      ...oneOf.map((variant) =>
        objects({
          ...schema,
          properties: { ...properties, ...variant.properties },
          required: [...new Set([...required, ...(variant.required ?? [])])],
        }),
      ),
    );
  const named = fc.record(Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, valuesOf(of)])), {
    requiredKeys: [...required],
  });
  if (typeof additionalProperties !== "object") return named;
  return fc
    .tuple(named, fc.dictionary(fc.string({ maxLength: 8 }), valuesOf(additionalProperties), { maxKeys: 3 }))
    .map(([one, other]) => ({ ...one, ...other }));
}

/** The same values, some with a part that the schema does not accept: replaced, left out, or added. */
export function damaged(values: Values): Values {
  return fc
    .tuple(
      values,
      fc.array(fc.tuple(fc.nat(1000), fc.constantFrom("replace", "drop", "add"), hostile), { maxLength: 2 }),
    )
    .map(([value, changes]) =>
      changes.reduce<unknown>((whole, [at, how, what]) => damage(whole, at, how, what), value),
    );
}

function damage(value: unknown, at: number, how: string, what: unknown): unknown {
  if (Array.isArray(value)) {
    const items = [...value];
    const index = at % (items.length + 1);
    if (how === "add" || index === items.length) items.push(what);
    else if (how === "drop") items.splice(index, 1);
    else items[index] = damage(items[index], at >> 2, how, what);
    return items;
  }
  if (typeof value !== "object" || value === null) return what;
  const entries = Object.entries(value);
  const index = at % (entries.length + 1);
  const name = hostileTexts[at % hostileTexts.length] ?? "";
  const chosen = entries[index];
  if (how === "add" || chosen === undefined) entries.push([name, what]);
  else if (how === "drop") entries.splice(index, 1);
  else entries[index] = [chosen[0], damage(chosen[1], at >> 2, how, what)];
  // Not an object literal: a field named __proto__ is to be a field.
  return Object.fromEntries(entries);
}
