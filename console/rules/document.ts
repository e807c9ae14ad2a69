import { Problem } from "../api/problem.ts";
import { type ParameterField, type Schema, typesOf } from "./parameters.ts";

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

let read: Promise<ReadonlyMap<string, readonly ParameterField[]>> | undefined;

/** The types of rules and their parameters, of the document that the service gives. */
export function readRuleTypes(): Promise<ReadonlyMap<string, readonly ParameterField[]>> {
  read ??= fetch("/openapi.json")
    .then(async (response) => {
      if (!response.ok) throw new Problem("", response.status);
      const { components }: Document = await response.json();
      return typesOf(components.schemas.AlertRuleBody ?? {});
    })
    .catch((thrown: unknown) => {
      read = undefined;
      throw thrown;
    });
  return read;
}
