import type { FastifyRequest } from "fastify";
import { ApiError } from "../errors/catalogue.ts";
import type { Caller } from "./caller.ts";

/** The user that made this request. Only for routes that are not `public`: the gate has let it in. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new ApiError("invalidToken");
  return request.caller;
}

/** A call's fields in the envelope of specification 2.1. */
export function answer<P extends object>(caller: Caller, payload: P, warnings: readonly string[] = []) {
  return {
    success: true as const,
    error: null,
    apiUsage: caller.apiUsage,
    apiDailyUsage: caller.apiDailyUsage,
    ...payload,
    ...warned(warnings),
  };
}

function warned(warnings: readonly string[]): { warnings?: string[] } {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

/** The same for a call that the service's operator makes too, who has no counters. */
export function serviceAnswer<P extends object>(caller: Caller | null, payload: P, warnings: readonly string[] = []) {
  if (caller !== null) return answer(caller, payload, warnings);
  return { success: true as const, error: null, ...payload, ...warned(warnings) };
}

/**
 * The same as text, open at its end: `{"success":true,...,"apiDailyUsage":7`. For answers whose fields are JSON text
 * already.
 */
export function answerHead(caller: Caller | null, warnings: readonly string[] = []): string {
  const told = warnings.length === 0 ? "" : `,"warnings":${JSON.stringify(warnings)}`;
  const counters = caller && `,"apiUsage":${caller.apiUsage},"apiDailyUsage":${caller.apiDailyUsage}`;
  return `{"success":true,"error":null${counters ?? ""}${told}`;
}

/** The envelope of a failure (specification 7). */
export function failureText(error: ApiError, caller: Caller | null): string {
  return JSON.stringify({
    success: false,
    error: error.kind.text,
    ...(caller === null ? {} : { apiUsage: caller.apiUsage, apiDailyUsage: caller.apiDailyUsage }),
    ...(error.details.length === 0 ? {} : { details: error.details }),
  });
}

/** Content type of every JSON answer. */
export const jsonType = "application/json; charset=utf-8";
