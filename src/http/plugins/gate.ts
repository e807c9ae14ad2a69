import type { FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import { isBearer } from "../../auth/api-key.ts";
import { allows, inactivity, operatorMay, type Permission } from "../../auth/permission.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { Share } from "../../model/share.ts";
import { RateLimit } from "../../shares/rate-limit.ts";
import { requesterOf } from "../address.ts";
import { within } from "../deadline.ts";
import { forgery } from "../forgery.ts";
import { fixedLimits } from "../limits.ts";
import { Pipeline } from "../pipeline.ts";
import type { Known } from "../recognition.ts";
import type { Services } from "../services.ts";
import { createLinkGate } from "../shared-link.ts";
import { guardAnswer } from "./headers.ts";

/** The one place that decides who may call what. Each route is asked with the permission that it declares. */
export interface Gate {
  /** The hook that stands before every handler of a route with this permission. */
  guard(permission: Permission): onRequestHookHandler;
  /**
   * For paths that no route has: a known user is counted, limited and refused as on any other, anybody else is let
   * through.
   */
  recognise(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Users whose requests are counted by the minute. */
const countedUsers = 100_000;

/** The one permission gate: who asks, whether they may, and how often. `secure`: by HTTPS, and never again without. */
export function createGate(services: Services, secure: boolean): Gate {
  const { recognise, clock, limits, answers, serviceAccount } = services;
  const countStranger = strangersCount(services);
  const links = createLinkGate(services, { countStranger, countUse: linksCount(services) });
  const count = usersCount(services);
  const decideOperator = operatorGate(services);
  const pipeline = new Pipeline();
  const timeoutMs = limits.timeoutSeconds * 1000;

  function decide(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Known | undefined,
    permission: Permission,
    crowd: string | undefined,
  ): ApiError | undefined {
    if (caller === undefined)
      return countStranger(request, reply) ?? (permission === "anyone" ? undefined : new ApiError("invalidToken"));
    const refusal = count(request, reply, caller) ?? inactivity(caller.user, clock.now()) ?? forged(request, caller);
    if (refusal !== undefined) return refusal;
    if (!allows(permission, caller.user, serviceAccount)) return new ApiError("permissionDenied");
    if (permission === "person" && caller.session === undefined)
      return new ApiError("permissionDenied", ["this is for who signed in with a browser: POST /api/session"]);
    if (crowd !== undefined) return new ApiError("tooManyRequests", [crowd], fixedLimits.retrySoonSeconds);
    return answers.enter(caller.user, request, reply);
  }

  /** `crowd`: why a user's request may not wait for those before it on its connection. */
  function enter(
    request: FastifyRequest,
    reply: FastifyReply,
    permission: Permission,
    crowd: string | undefined,
    done: (refusal?: Error) => void,
  ): void {
    begin(request, reply, clock.monotonic(), secure);
    if (permission === "shared") {
      within(links.decide(request, reply), timeoutMs).then(done, (error: Error) => done(error));
      return;
    }
    const caller = permission === "public" ? undefined : recognise(request);
    if (caller instanceof Promise)
      within(caller, timeoutMs).then(
        (found) => done(decide(request, reply, found, permission, crowd)),
        (error: Error) => done(error),
      );
    else if (permission === "public") done();
    else if (caller === undefined && operatorMay(permission)) done(decideOperator(request, reply));
    else done(decide(request, reply, caller, permission, crowd));
  }

  return {
    guard: (permission) => (request, reply, done) =>
      pipeline.turn(request.raw, reply.raw, (crowd) => enter(request, reply, permission, crowd, done)),
    async recognise(request, reply) {
      // Where too many wait it is answered none the less: the answer is small.
      await new Promise((resolve) => pipeline.turn(request.raw, reply.raw, resolve));
      begin(request, reply, clock.monotonic(), secure);
      // A request whose path can't be decoded comes without the decorations of a route's.
      request.caller = null;
      const caller = await within(Promise.resolve(recognise(request)), timeoutMs);
      if (caller === undefined) return;
      const refusal = count(request, reply, caller) ?? inactivity(caller.user, clock.now());
      if (refusal !== undefined) throw refusal;
    },
  };
}

/** Why a request that came by the cookie may not write. */
function forged(request: FastifyRequest, { session }: Known): ApiError | undefined {
  return session && forgery(request, session);
}

/** Counts a request to its user, and says what is left of the minute. */
function usersCount({ usage, limits }: Pick<Services, "usage" | "limits">) {
  const perUser = new RateLimit("user", limits.requestsPerMinute, countedUsers);
  return (request: FastifyRequest, reply: FastifyReply, { user, entry, session }: Known): ApiError | undefined => {
    usage.requests.add(entry, 1);
    request.caller = { user, apiUsage: entry.total, apiDailyUsage: entry.daily, ...(session && { session }) };
    return limit(perUser, user.key, request, reply);
  };
}

function begin(request: FastifyRequest, reply: FastifyReply, startedAt: number, secure: boolean): void {
  request.startedAt = startedAt;
  reply.header("x-request-id", request.id);
  guardAnswer(reply, secure);
}

/**
 * Who has no good token. It is counted only once it is known to be bad: whoever has a good one is not limited by others
 * at its address.
 */
function strangersCount({ limits }: Pick<Services, "limits">) {
  const perAddress = new RateLimit("address", limits.badTokensPerMinute, fixedLimits.countedNames);
  return (request: FastifyRequest, reply: FastifyReply): ApiError | undefined =>
    limit(perAddress, requesterOf(request), request, reply);
}

/** Counts requests by link, whoever makes them. */
function linksCount({ limits }: Pick<Services, "limits">) {
  const perLink = new RateLimit("link", limits.links.requestsPerMinute, fixedLimits.countedNames);
  return ({ key }: Share, request: FastifyRequest, reply: FastifyReply): ApiError | undefined =>
    limit(perLink, key, request, reply);
}

/**
 * The operator has no user. Its key is looked at first and never limited, so that nobody who asks from the same address
 * (a proxy's, perhaps) keeps it out; what brings another key, or none, is limited by address.
 */
function operatorGate({ limits, operatorKeyHash }: Pick<Services, "limits" | "operatorKeyHash">) {
  const perAddress = new RateLimit("address", limits.requestsPerMinute, fixedLimits.countedNames);
  return (request: FastifyRequest, reply: FastifyReply): ApiError | undefined => {
    if (isBearer(request.headers.authorization, operatorKeyHash)) return undefined;
    return limit(perAddress, requesterOf(request), request, reply) ?? new ApiError("invalidToken");
  };
}

/** Takes one request of a limit, and says what is left of its minute. */
function limit(
  by: RateLimit,
  key: string | number,
  { startedAt }: FastifyRequest,
  reply: FastifyReply,
): ApiError | undefined {
  const allowance = by.take(key, startedAt);
  reply.header("ratelimit-policy", by.policy);
  reply.header("ratelimit", by.describe(allowance));
  return allowance.allowed ? undefined : new ApiError("tooManyRequests", [], allowance.resetSeconds);
}
