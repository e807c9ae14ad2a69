import { Ajv, type SchemaObject, type ValidateFunction } from "ajv";
import type { DataValidateFunction } from "ajv/dist/types/index.js";
import type { FastifySchemaCompiler, FastifyValidationResult } from "fastify/types/schema.js";
import { parseInstant } from "../contract/time.ts";
import { fixedLimits } from "./limits.ts";

/**
 * Compiles the schemas of what calls take, each when something is first checked by it: all together take a third of a
 * second. The first problem ends a validation, so that what is valid, or hostile, costs little; an input that has one
 * and is not too large is then gone through again for all of its problems. Nothing of an input is changed.
 */
export function inputValidator(): FastifySchemaCompiler<SchemaObject> {
  const first = newAjv(false);
  let all: Ajv | undefined;
  return ({ schema, httpPart }) => {
    // What can be no id names nothing: it is unknown, like any other.
    if (httpPart === "params") return () => true;
    let finds: ValidateFunction | undefined;
    let findsAll: ValidateFunction | undefined;
    const validate: FastifyValidationResult = (input: unknown) => {
      finds ??= first.compile(schema);
      if (finds(input)) return true;
      validate.errors = finds.errors ?? [];
      if (hasFewValues(input)) {
        all ??= newAjv(true);
        findsAll ??= all.compile(schema);
        if (!findsAll(input)) validate.errors = findsAll.errors?.slice(0, keptErrors) ?? [];
        findsAll.errors = null;
      }
      return false;
    };
    return validate;
  };
}

/**
 * Some errors say the same of one place, so more are kept than an answer shows; not all, for they stay in memory until
 * the next one.
 */
const keptErrors = 4 * fixedLimits.details;

function newAjv(allErrors: boolean): Ajv {
  // Without Ajv's own optimizing of what V8 optimizes anyway: it takes half of a compilation, during which everybody
  // waits.
  const code = { optimize: false };
  // Without a check of the schemas: the first call would wait while Ajv compiles JSON Schema's own schema. The schemas
  // are ours, and strict mode refuses unknown keywords and types.
  const usual = { code, allowUnionTypes: true, addUsedSchema: false, validateSchema: false };
  const ajv = new Ajv({ ...usual, allErrors });
  ajv.addKeyword("documented");
  chooseVariants(ajv);
  return ajv.addFormat("date-time", (text: string) => parseInstant(text) !== undefined);
}

/**
 * Replaces `oneOf` by a choice of the variant that the property `discriminator` names. A variant is compiled when an
 * input first has it: the twenty types of an alert rule take as long as all the rest of the rule, and everybody waits
 * for that. An input of no variant passes: the schema of the property refuses it.
 */
function chooseVariants(ajv: Ajv): void {
  ajv.addKeyword("discriminator");
  ajv.removeKeyword("oneOf");
  ajv.addKeyword({
    keyword: "oneOf",
    type: "object",
    schemaType: "array",
    errors: "full",
    compile: (variants: readonly SchemaObject[], { discriminator }) => {
      const name: string = discriminator.propertyName;
      const compiled = new Map<unknown, ValidateFunction>();
      const validate: DataValidateFunction = (input: Readonly<Record<string, unknown>>, context) => {
        const value: unknown = input[name];
        const variant = variants.find(({ properties }) => properties[name].enum.includes(value));
        if (variant === undefined) return true;
        const finds = compiled.get(value) ?? ajv.compile(variant);
        compiled.set(value, finds);
        if (finds(input)) return true;
        const at = context?.instancePath ?? "";
        const kept = finds.errors?.slice(0, keptErrors) ?? [];
        validate.errors = kept.map((error) => ({ ...error, instancePath: at + error.instancePath }));
        finds.errors = null;
        return false;
      };
      return validate;
    },
  });
}

/**
 * Values of an input that is gone through for all of its problems: every honest one (a group has at most 15,000
 * devices), and each value can have only some problems, so these fit a few MB and are found in less time than parsing
 * the largest body takes.
 */
const mostValues = 20_000;

function hasFewValues(input: unknown): boolean {
  const waiting: unknown[] = [input];
  let count = 0;
  for (const value of waiting) {
    if (typeof value !== "object" || value === null) continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
    count += values.length;
    if (count > mostValues) return false;
    for (const item of values) if (typeof item === "object") waiting.push(item);
  }
  return true;
}
