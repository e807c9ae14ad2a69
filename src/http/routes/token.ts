import { matchesApiKey } from "../../auth/api-key.ts";
import { inactivity } from "../../auth/permission.ts";
import { formatInstant } from "../../contract/time.ts";
import { TokenAnswer, TokenRequest } from "../../contract/token.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer } from "../envelope.ts";
import { fixedLimits } from "../limits.ts";
import { RateLimit } from "../rate-limit.ts";
import type { Services } from "../services.ts";

/** POST /api/Auth/Token (specification 4.1). */
export function tokenRoute(app: App, { store, tokens, usage, clock, limits }: Services): void {
  const perAddress = new RateLimit("address", limits.tokenRequestsPerMinute, fixedLimits.countedNames);
  const perName = new RateLimit("name", limits.tokenRequestsPerMinute, fixedLimits.countedNames);

  /** The user whose key this is; undefined: there is none. */
  async function authenticate({ userName, apiKey }: TokenRequest): Promise<(User & { apiKeyId: string }) | undefined> {
    const user = await store.users.findByEmail(userName);
    const matches = matchesApiKey(apiKey, user?.apiKeyHash ?? null);
    if (user === undefined || !matches || user.apiKeyId === null) return undefined;
    return { ...user, apiKeyId: user.apiKeyId };
  }

  app.post(
    "/api/Auth/Token",
    call({
      operationId: "requestToken",
      tag: "Authentication",
      summary: "Obtain an access token",
      description:
        "The user's name is its e-mail address, in any case. The token ends at `expires`, and as soon as the API key is replaced.",
      permission: "public",
      input: { body: TokenRequest },
      ok: { 200: TokenAnswer },
      errors: ["badCredentials", "userDisabled", "userExpired", "tooManyRequests"],
    }),
    async (request, reply) => {
      const { userName } = request.body;
      const address = perAddress.take(request.ip, request.startedAt);
      const name = perName.take(userName.toLowerCase(), request.startedAt);
      reply.header("cache-control", "no-store");
      reply.header("ratelimit-policy", `${perAddress.policy}, ${perName.policy}`);
      reply.header("ratelimit", `${perAddress.describe(address)}, ${perName.describe(name)}`);
      if (!address.allowed || !name.allowed)
        throw new ApiError(
          "tooManyRequests",
          [],
          Math.max(address.allowed ? 0 : address.resetSeconds, name.allowed ? 0 : name.resetSeconds),
        );
      const user = await authenticate(request.body);
      if (user === undefined) throw new ApiError("badCredentials");
      const now = clock.now();
      const entry = await usage.requests.entry(user.key, now);
      usage.requests.add(entry, 1);
      request.caller = { user, apiUsage: entry.total, apiDailyUsage: entry.daily };
      const refusal = inactivity(user, now);
      if (refusal !== undefined) throw refusal;
      await store.users.setLastLogin(user.key, now);
      const { token, expires } = tokens.issue(user.key, user.apiKeyId);
      return answer(request.caller, { token, expires: formatInstant(expires) });
    },
  );
}
