import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError, type ErrorName } from "../../errors/catalogue.ts";
import type { QuotaName } from "../../model/quotas.ts";
import type { Log } from "../../ports/log.ts";
import { QuotaReached, StoreUnavailable } from "../../ports/store.ts";
import { detailsOf } from "../details.ts";
import { failureText, jsonType } from "../envelope.ts";
import { fixedLimits } from "../limits.ts";

/**
 * Answers every failure of a route in the envelope, with a listed code. What nobody foresaw is a 500; its cause stands
 * in the log alone.
 */
export function answerFailures(app: FastifyInstance, log: Log): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    takeRest(request, reply);
    return answerFailure(error, request, reply, log);
  });
}

/**
 * Fastify closes the connection behind a body that it refuses. Closed with bytes unread, the connection is reset, and a
 * client that still sends loses the answer; so what is left of the body is taken and forgotten, in the time that a
 * request has. A client or a stop that ends the connection still does.
 */
function takeRest({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (reply.getHeader("connection") !== "close" || reply.raw.hasHeader("connection")) return;
  if (!reply.raw.shouldKeepAlive) return;
  // Without the header, Node would forget that a client has ended its side, and keep the connection.
  reply.header("connection", "keep-alive");
  raw.resume();
}

/**
 * Answers a failure with its envelope, status and headers; one that nobody foresaw as an internal error, its cause in
 * the log only.
 */
export function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): FastifyReply {
  const failure = toApiError(error, request);
  if (failure.code === "internal")
    log.error(
      { request: request.id, method: request.method, route: request.routeOptions.url, error },
      "unhandled error",
    );
  else if (failure.code === "unavailable")
    log.warn({ request: request.id, route: request.routeOptions.url, error }, "unavailable for the moment");
  reply.code(failure.kind.status).header("content-type", jsonType);
  if (failure.kind.status === 401) reply.header("www-authenticate", "Bearer");
  if (failure.retryAfter !== undefined) reply.header("retry-after", failure.retryAfter);
  return reply.send(failureText(failure, request.caller));
}

const quotaErrors = {
  users: "userLimit",
  groups: "groupLimit",
  geofences: "geofenceLimit",
  rules: "alertRuleLimit",
  rulesOfDevice: "deviceRuleLimit",
  webhooks: "webhookLimit",
  bytes: "storageLimit",
} as const satisfies Readonly<Record<QuotaName, ErrorName>>;

const clientGone: ReadonlySet<string> = new Set(["ECONNRESET", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE"]);

/** The failure of the catalogue that an error of a handler, of Fastify or of the store is. */
function toApiError(error: unknown, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreUnavailable) return new ApiError("unavailable", [], fixedLimits.retryAfterSeconds);
  if (error instanceof QuotaReached)
    return new ApiError(quotaErrors[error.quota], [
      `GET /api/account tells what the account has and may have of ${error.quota}`,
    ]);
  if (!(error instanceof Error)) return new ApiError("internal");
  const { code, statusCode, validation, validationContext }: Partial<FastifyError> = error;
  const invalid = request.routeOptions.config.invalid ?? "badRequest";
  if (validation !== undefined) {
    const missing = validationContext === "body" && request.body === undefined;
    return new ApiError(invalid, missing ? ["body: is required"] : detailsOf(validation, validationContext ?? "body"));
  }
  // The client went away before its body was complete, or before an answer that is streamed began; nobody reads this
  // one.
  if (code !== undefined && clientGone.has(code)) return new ApiError("badRequest");
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return new ApiError("internal");
  if (statusCode === 415) return new ApiError("unsupportedMediaType", ["content-type: must be application/json"]);
  if (statusCode === 413) return new ApiError(invalid, ["body: is larger than the service takes"]);
  if (code === "FST_ERR_BAD_URL") return new ApiError(invalid, ["path: is not well-formed"]);
  const cut = code === "FST_ERR_CTP_INVALID_CONTENT_LENGTH";
  return new ApiError(invalid, [cut ? "body: must be as long as content-length says" : "request: can't be read"]);
}
