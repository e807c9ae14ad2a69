import type { FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { ApiError, type ErrorName } from "../errors/catalogue.ts";
import { detailsOf } from "./details.ts";

/** Schemas as Fastify takes them. Each stays the same object, for it is compiled once and then found by it. */
const plain = new WeakMap<TSchema, { [name: string]: unknown }>();

/** A check of values that do not come as a body, by the validator that checks bodies; it throws `error`. */
export function checkerOf<S extends TSchema>(
  request: FastifyRequest,
  schema: S,
  error: ErrorName = "badRequest",
): (value: unknown) => Static<S> {
  const validate = request.compileValidationSchema(plainOf(schema));
  const passes = (value: unknown): value is Static<S> => validate(value) === true;
  return (value) => {
    if (passes(value)) return value;
    throw new ApiError(error, detailsOf(validate.errors ?? [], "body"));
  };
}

function plainOf(schema: TSchema): { [name: string]: unknown } {
  const known: { [name: string]: unknown } = plain.get(schema) ?? { ...schema };
  plain.set(schema, known);
  return known;
}
