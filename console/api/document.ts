import { Problem } from "./problem.ts";

/** A part of a JSON schema, as the API's document has it. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly items?: ValueSchema;
  readonly additionalProperties?: ValueSchema | boolean;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly ValueSchema[];
}

let read: Promise<Readonly<Record<string, ValueSchema>>> | undefined;

/** The schemas of the document that the service gives. What the service takes stands nowhere else. */
export function readSchemas(): Promise<Readonly<Record<string, ValueSchema>>> {
  read ??= fetch("/openapi.json")
    .then(async (response) => {
      if (!response.ok) throw new Problem("", response.status);
      const document: { components: { schemas: Readonly<Record<string, ValueSchema>> } } = await response.json();
      return document.components.schemas;
    })
    .catch((thrown: unknown) => {
      read = undefined;
      throw thrown;
    });
  return read;
}

/**
 * What of a value does not fit its schema; undefined: nothing that these keywords tell. The service has the last word.
 */
export type Misfit = "type" | "choice" | "form" | "short" | "long" | "low" | "high" | "many";

/** Compares a value with its schema in the keywords above. Others the service checks alone. */
export function misfitOf(value: unknown, schema: ValueSchema): Misfit | undefined {
  if (!isOfType(value, schema.type)) return "type";
  if (schema.enum !== undefined && !schema.enum.includes(value)) return "choice";
  if (typeof value === "string") return textMisfit(value, schema);
  if (typeof value === "number") {
    if (value < (schema.minimum ?? value)) return "low";
    return value > (schema.maximum ?? value) ? "high" : undefined;
  }
  const { parts, most, of } = partsOf(value, schema);
  if (parts.length > (most ?? parts.length)) return "many";
  if (typeof of !== "object") return undefined;
  return parts.map((part) => misfitOf(part, of)).find((misfit) => misfit !== undefined);
}

function textMisfit(value: string, { minLength, maxLength, pattern }: ValueSchema): Misfit | undefined {
  const { length } = [...value];
  if (length < (minLength ?? 0)) return "short";
  if (length > (maxLength ?? length)) return "long";
  return pattern !== undefined && !new RegExp(pattern, "u").test(value) ? "form" : undefined;
}

function partsOf(value: unknown, schema: ValueSchema) {
  if (Array.isArray(value)) return { parts: value as readonly unknown[], most: schema.maxItems, of: schema.items };
  if (typeof value !== "object" || value === null) return { parts: [], most: undefined, of: undefined };
  return { parts: Object.values(value), most: schema.maxProperties, of: schema.additionalProperties };
}

function isOfType(value: unknown, type: ValueSchema["type"]): boolean {
  if (type === undefined) return true;
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const types = typeof type === "string" ? [type] : type;
  return types.includes(own) || (types.includes("integer") && Number.isInteger(value));
}
