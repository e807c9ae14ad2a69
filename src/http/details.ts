import type { FastifySchemaValidationError } from "fastify/types/schema.js";
import { fixedLimits } from "./limits.ts";

/** What is wrong and where, for people: `body/from: must be an RFC 3339 date-time`. */
export function detailsOf(errors: readonly FastifySchemaValidationError[], context: string): readonly string[] {
  return errors.slice(0, fixedLimits.details).map((error) => `${context}${whereOf(error)}: ${whatOf(error)}`);
}

function whereOf({ keyword, instancePath, params }: FastifySchemaValidationError): string {
  if (keyword === "required") return `${instancePath}/${params.missingProperty}`;
  if (keyword === "propertyNames") return `${instancePath}/${params.propertyName}`;
  return instancePath;
}

function whatOf({ keyword, params, message = "is not valid" }: FastifySchemaValidationError): string {
  switch (keyword) {
    case "required":
      return "is required";
    case "type":
      return `must be ${String(params.type).replaceAll(",", " or ")}`;
    case "format":
      return params.format === "date-time" ? "must be an RFC 3339 date-time" : message;
    case "enum":
      return `must be one of ${[params.allowedValues].flat().join(", ")}`;
    case "uniqueItems":
      return "must not have the same item twice";
    default:
      return message.replace("NOT", "not");
  }
}
