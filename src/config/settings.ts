import Type, { type TSchema } from "typebox";
import { configSchema } from "./schema.ts";

/** One setting of the schema, as the loader, the printer and the documentation use it. */
export interface Setting {
  /** Path in the file, `http.port`. */
  readonly key: string;
  readonly env: string;
  readonly kind: "integer" | "boolean" | "text" | "choice";
  readonly fallback: string | number | boolean;
  readonly unit: string | undefined;
  readonly meaning: string;
  /** What a right value is, in words: `an integer from 0 to 65535`. */
  readonly right: string;
  /** Its value is never shown. */
  readonly secret: boolean;
  readonly schema: TSchema;
}

/** Every setting in the order of the schema. */
export const settings: readonly Setting[] = Object.freeze(walk(configSchema, ""));

/** Whether the schema has a group of settings under this path. */
export const groups: ReadonlySet<string> = new Set(
  settings.flatMap(({ key }) => (key.includes(".") ? [key.slice(0, key.lastIndexOf("."))] : [])),
);

function walk(schema: TSchema, path: string): Setting[] {
  if (!Type.IsObject(schema)) return [settingOf(schema, path)];
  return Object.entries(schema.properties).flatMap(([name, part]) =>
    walk(part, path === "" ? name : `${path}.${name}`),
  );
}

function settingOf(schema: TSchema, key: string): Setting {
  const options: Readonly<Record<string, unknown>> = { ...schema };
  const { env, description, unit, default: fallback } = options;
  if (typeof env !== "string" || typeof description !== "string" || !isValue(fallback))
    throw new Error(`setting ${key} lacks its variable, its meaning or its default`);
  return Object.freeze({
    key,
    env,
    kind: kindOf(schema),
    fallback,
    unit: typeof unit === "string" ? unit : undefined,
    meaning: description,
    right: rightOf(schema, options),
    secret: options.secret === true,
    schema,
  });
}

function kindOf(schema: TSchema): Setting["kind"] {
  if (Type.IsInteger(schema)) return "integer";
  if (Type.IsBoolean(schema)) return "boolean";
  return Type.IsUnion(schema) ? "choice" : "text";
}

function rightOf(schema: TSchema, options: Readonly<Record<string, unknown>>): string {
  if (Type.IsInteger(schema)) return `an integer from ${options.minimum} to ${options.maximum}`;
  if (Type.IsBoolean(schema)) return "true or false";
  if (Type.IsUnion(schema)) {
    const choices = schema.anyOf.map((choice) => (Type.IsLiteral(choice) ? String(choice.const) : "?"));
    return `one of ${choices.join(", ")}`;
  }
  return typeof options.example === "string"
    ? options.example
    : `text of ${options.minLength} to ${options.maxLength} characters`;
}

function isValue(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
