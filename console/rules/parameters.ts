import { readSchemas, type ValueSchema } from "../api/document.ts";

/** A field of a form. */
export interface ParameterField {
  readonly name: string;
  readonly kind: "number" | "integer" | "choice" | "flag" | "zones" | "list" | "text";
  readonly required: boolean;
  readonly choices: readonly (string | number)[];
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

/** The types of rules with their fields, of the document that the service gives. */
export async function readRuleTypes(): Promise<ReadonlyMap<string, readonly ParameterField[]>> {
  return typesOf((await readSchemas()).AlertRuleBody ?? {});
}

/**
 * The types of rules with the fields of their parameters, as the document of the API tells them: what the service takes
 * stands nowhere else.
 */
export function typesOf(body: ValueSchema): ReadonlyMap<string, readonly ParameterField[]> {
  return new Map(
    (body.oneOf ?? []).flatMap(({ properties = {} }) => {
      const name = properties.type?.enum?.[0];
      return typeof name === "string" ? [[name, fieldsOf(properties.parameters ?? {})] as const] : [];
    }),
  );
}

function fieldsOf({ properties = {}, required = [] }: ValueSchema): readonly ParameterField[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    kind: kindOf(name, schema),
    required: required.includes(name),
    choices: (schema.enum ?? []).filter((choice) => typeof choice === "string" || typeof choice === "number"),
    minimum: schema.minimum,
    maximum: schema.maximum,
  }));
}

function kindOf(name: string, { type, enum: choices }: ValueSchema): ParameterField["kind"] {
  if (choices !== undefined) return "choice";
  if (type === "array") return name === "zones" ? "zones" : "list";
  if (type === "boolean") return "flag";
  return type === "number" || type === "integer" ? type : "text";
}

/** What a form's texts mean for the service. What is empty is left out: the service knows its default. */
export function valuesOf(
  fields: readonly ParameterField[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = givenValue(field, given[field.name]);
      return value === undefined ? [] : [[field.name, value]];
    }),
  );
}

function givenValue({ kind, choices }: ParameterField, value: unknown): unknown {
  if (value === undefined || value === null || value === "") return undefined;
  if (kind === "number" || kind === "integer") return Number(value);
  if (kind === "choice") return choices.find((choice) => String(choice) === String(value));
  if (kind === "list" && typeof value === "string") return value.split(/[\s,]+/).filter((part) => part !== "");
  return value;
}
