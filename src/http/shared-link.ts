import type { FastifyReply, FastifyRequest } from "fastify";
import { inactivity } from "../auth/permission.ts";
import { shareHashIn } from "../auth/share-token.ts";
import type { HeldShare } from "../domain/shared-places.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Share } from "../model/share.ts";
import type { Services } from "./services.ts";

/** What the requests and streams of a link count to: not its maker, whose own ones go on whatever its holders do. */
export function usesOf({ key, accountKey }: Share): Pick<User, "key" | "accountKey"> {
  return { key: -key, accountKey };
}

/**
 * The link whose token a request brings, and its maker. Undefined: there is none, it has ended, or its maker may do
 * nothing.
 */
export async function shareOfRequest(
  { headers }: Pick<FastifyRequest, "headers">,
  { shares, users, clock }: Pick<Services, "shares" | "users" | "clock">,
): Promise<HeldShare | undefined> {
  const hash = shareHashIn(headers.authorization);
  const share = hash === undefined ? undefined : await shares.find(hash);
  const user = share === undefined ? undefined : await users.get(share.userKey);
  if (share === undefined || user === undefined || inactivity(user, clock.now()) !== undefined) return undefined;
  return user.accountKey === share.accountKey ? { share, user } : undefined;
}

/** How the gate lets in who has a link. */
export interface LinkGate {
  /** Why not; undefined: it may. */
  decide(request: FastifyRequest, reply: FastifyReply): Promise<ApiError | undefined>;
}

/** What of the gate it uses. */
interface LinkGateParts {
  /** Counts somebody without a good token, by address. Undefined: there were not too many. */
  readonly countStranger: (request: FastifyRequest, reply: FastifyReply) => ApiError | undefined;
  /** Counts a request of a link. */
  readonly countUse: (share: Share, request: FastifyRequest, reply: FastifyReply) => ApiError | undefined;
}

/** The gate for links: guesses are counted by address, uses by link. */
export function createLinkGate(services: Services, { countStranger, countUse }: LinkGateParts): LinkGate {
  return {
    async decide(request, reply) {
      const held = await shareOfRequest(request, services);
      if (held === undefined) return countStranger(request, reply) ?? new ApiError("linkNotValid");
      const refusal = countUse(held.share, request, reply);
      if (refusal !== undefined) return refusal;
      request.held = held;
      return services.answers.enter(usesOf(held.share), request, reply);
    },
  };
}
