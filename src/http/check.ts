import type { FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { ApiError } from "../errors/catalogue.ts";
import { detailsOf } from "./details.ts";

/** A check of values that do not come as a body, by the validator that checks bodies; it throws `badRequest`. */
export function checkerOf<S extends TSchema>(request: FastifyRequest, schema: S): (value: unknown) => Static<S> {
  const validate = request.compileValidationSchema({ ...schema });
  const passes = (value: unknown): value is Static<S> => validate(value) === true;
  return (value) => {
    if (passes(value)) return value;
    throw new ApiError("badRequest", detailsOf(validate.errors ?? [], "body"));
  };
}
