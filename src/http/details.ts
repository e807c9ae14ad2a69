import type { FastifySchemaValidationError } from "fastify/types/schema.js";
import { sentenceOf } from "../contract/forms.ts";
import { shown, stepTo } from "./body-problems.ts";
import { fixedLimits } from "./limits.ts";

/** A problem that a validation found; with `propertyName` it is one of that name. */
type Problem = FastifySchemaValidationError & { readonly propertyName?: string };

/** What is wrong and where, for people: `body/from: must be an RFC 3339 date-time`. */
export function detailsOf(errors: readonly Problem[], context: string): readonly string[] {
  // An error of a name comes with another one, which says only that there is one; so does that of a type that no
  // variant has.
  const telling = errors.filter(({ keyword }) => keyword !== "propertyNames" && keyword !== "discriminator");
  const details = telling.map((error) => `${context}${shown(whereOf(error))}: ${whatOf(error)}`);
  return [...new Set(details)].slice(0, fixedLimits.details);
}

function whereOf({ keyword, instancePath, params, propertyName }: Problem): string {
  if (propertyName !== undefined) return stepTo(instancePath, propertyName);
  return keyword === "required" ? stepTo(instancePath, String(params.missingProperty)) : instancePath;
}

function whatOf(error: Problem): string {
  return error.propertyName === undefined ? ruleOf(error) : `its name ${ruleOf(error)}`;
}

function ruleOf({ keyword, params, message = "is not valid" }: Problem): string {
  switch (keyword) {
    case "required":
      return "is required";
    case "type":
      return `must be ${String(params.type).replaceAll(",", " or ")}`;
    case "format":
      return params.format === "date-time" ? "must be an RFC 3339 date-time" : message;
    case "enum":
      return `must be one of ${[params.allowedValues].flat().map(String).join(", ")}`;
    case "pattern":
      return sentenceOf(params.pattern);
    case "uniqueItems":
      return "must not have the same item twice";
    default:
      return message.replace("NOT", "not");
  }
}
