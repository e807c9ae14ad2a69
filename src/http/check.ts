import type { FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { ApiError, type ErrorName } from "../errors/catalogue.ts";
import { detailsOf } from "./details.ts";

/** A check of values that do not come as a body, by the validator that checks bodies; it throws `error`. */
export function checkerOf<S extends TSchema>(
  request: FastifyRequest,
  schema: S,
  error: ErrorName = "badRequest",
): (value: unknown) => Static<S> {
  const validate = request.compileValidationSchema({ ...schema });
  const passes = (value: unknown): value is Static<S> => validate(value) === true;
  return (value) => {
    if (passes(value)) return value;
    throw new ApiError(error, detailsOf(validate.errors ?? [], "body"));
  };
}
