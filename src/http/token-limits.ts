import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../errors/catalogue.ts";
import { fixedLimits } from "./limits.ts";
import { RateLimit } from "./rate-limit.ts";

/** Token requests a minute, for each address and for each user name: both are counted, whether or not the request succeeds. */
export class TokenLimits {
  readonly #perAddress: RateLimit;
  readonly #perName: RateLimit;

  constructor(perMinute: number) {
    this.#perAddress = new RateLimit("address", perMinute, fixedLimits.countedNames);
    this.#perName = new RateLimit("name", perMinute, fixedLimits.countedNames);
  }

  /** Counts a request to its address. @throws ApiError `tooManyRequests` */
  countAddress(request: FastifyRequest, reply: FastifyReply): void {
    count(this.#perAddress, request.ip, request, reply);
  }

  /** Counts a request to the user name in it. @throws ApiError `tooManyRequests` */
  countName(userName: string, request: FastifyRequest, reply: FastifyReply): void {
    count(this.#perName, userName.toLowerCase(), request, reply);
  }
}

function count(limit: RateLimit, key: string, request: FastifyRequest, reply: FastifyReply): void {
  const allowance = limit.take(key, request.startedAt);
  append(reply, "ratelimit-policy", limit.policy);
  append(reply, "ratelimit", limit.describe(allowance));
  if (!allowance.allowed) throw new ApiError("tooManyRequests", [], allowance.resetSeconds);
}

function append(reply: FastifyReply, name: string, item: string): void {
  const present = reply.getHeader(name);
  reply.header(name, present === undefined ? item : `${String(present)}, ${item}`);
}
