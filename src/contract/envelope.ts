import Type, { type TProperties, type TSchemaOptions } from "typebox";

/** Counters of specification 2.1, as every answer to a known user carries them. */
export interface Counters {
  readonly apiUsage: number;
  readonly apiDailyUsage: number;
}

const apiUsage = Type.Integer({ minimum: 0, description: "Requests of this user ever, this one included." });
const apiDailyUsage = Type.Integer({
  minimum: 0,
  description: "Requests of this user in the present UTC day, this one included.",
});
const warnings = Type.Array(Type.String(), { description: "Accepted, and probably a mistake." });

/** The answer of a call that succeeded: the envelope of specification 2.1 and the call's own fields beside it. */
export function success<P extends TProperties>(payload: P, options: TSchemaOptions = {}) {
  return Type.Object(
    {
      success: Type.Literal(true),
      error: Type.Null(),
      apiUsage,
      apiDailyUsage,
      ...payload,
      warnings: Type.Optional(warnings),
    },
    { description: "Success", ...options },
  );
}

/** The same for a call that the service's operator makes, who has no counters; a user that may make it gets its own. */
export function serviceSuccess<P extends TProperties>(payload: P) {
  return Type.Object(
    {
      success: Type.Literal(true),
      error: Type.Null(),
      apiUsage: Type.Optional(apiUsage),
      apiDailyUsage: Type.Optional(apiDailyUsage),
      ...payload,
      warnings: Type.Optional(warnings),
    },
    { description: "Success" },
  );
}

/** The answer of a call that failed (specification 7), for the texts that it can have. */
export function failure(texts: readonly string[]) {
  return Type.Object(
    {
      success: Type.Literal(false),
      error: Type.Unsafe<string>({ type: "string", enum: [...texts], description: "What went wrong." }),
      apiUsage: Type.Optional(apiUsage),
      apiDailyUsage: Type.Optional(apiDailyUsage),
      details: Type.Optional(Type.Array(Type.String(), { description: "What is wrong, and where." })),
    },
    { description: texts.join(" · "), examples: [{ success: false, error: texts[0] ?? "" }] },
  );
}
