import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../errors/catalogue.ts";
import { RateLimit, type Shared } from "../shares/rate-limit.ts";
import { requesterOf } from "./address.ts";
import { fixedLimits } from "./limits.ts";

/**
 * Token requests a minute: from each address all, for each user name those with its key and, apart from them, those
 * with wrong ones. So strangers who know a user's name use up only what is theirs, from whatever addresses they ask
 * (docs/decisions/0009-limits-lock-nobody-out.md).
 */
export class TokenLimits {
  readonly #perAddress: RateLimit;
  readonly #perName: RateLimit;
  readonly #perWrongName: RateLimit;

  /** `as`: what the processes of the service, which count together, call these limits. */
  constructor(perMinute: number, as: string, among: Pick<Shared, "bus" | "clock">) {
    const limit = (name: string, kind: string) =>
      new RateLimit(name, perMinute, fixedLimits.countedNames, undefined, { ...among, as: `${as} ${kind}` });
    this.#perAddress = limit("address", "address");
    this.#perName = limit("name", "right");
    this.#perWrongName = limit("name", "wrong");
  }

  /** Counts a request to its address. @throws ApiError `tooManyRequests` */
  countAddress(request: FastifyRequest, reply: FastifyReply): void {
    countRequest(this.#perAddress, requesterOf(request), request, reply);
  }

  /** Counts a request to the user name in it, by what its key was found to be. @throws ApiError `tooManyRequests` */
  countName(userName: string, key: "right" | "wrong", request: FastifyRequest, reply: FastifyReply): void {
    countRequest(key === "right" ? this.#perName : this.#perWrongName, userName.toLowerCase(), request, reply);
  }
}

/** Counts a request, and says what is left of the limit. @throws ApiError `tooManyRequests` */
export function countRequest(limit: RateLimit, key: string, request: FastifyRequest, reply: FastifyReply): void {
  const allowance = limit.take(key, request.startedAt);
  append(reply, "ratelimit-policy", limit.policy);
  append(reply, "ratelimit", limit.describe(allowance));
  if (!allowance.allowed) throw new ApiError("tooManyRequests", [], allowance.resetSeconds);
}

function append(reply: FastifyReply, name: string, item: string): void {
  const present = reply.getHeader(name);
  reply.header(name, present === undefined ? item : `${String(present)}, ${item}`);
}
