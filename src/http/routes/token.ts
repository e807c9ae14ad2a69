import type { FastifyReply, FastifyRequest } from "fastify";
import { matchesApiKey } from "../../auth/api-key.ts";
import { inactivity } from "../../auth/permission.ts";
import { formatInstant } from "../../contract/time.ts";
import { TokenAnswer, TokenRequest } from "../../contract/token.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer } from "../envelope.ts";
import type { Services } from "../services.ts";
import { TokenLimits } from "../token-limits.ts";

const options = call({
  operationId: "requestToken",
  tag: "Authentication",
  summary: "Obtain an access token",
  description:
    "The user's name is its e-mail address, in any case. The token ends at `expires`, and as soon as the API key is replaced.",
  permission: "public",
  input: { body: TokenRequest },
  ok: { 200: TokenAnswer },
  errors: ["badCredentials", "userDisabled", "userExpired", "tooManyRequests"],
});

/** POST /api/Auth/Token (specification 4.1). */
export function tokenRoute(app: App, { store, tokens, usage, bus, clock, limits }: Services): void {
  const tries = new TokenLimits(limits.tokenRequestsPerMinute, "token", { bus, clock });

  /** The user whose key this is; undefined: there is none. */
  async function authenticate({ userName, apiKey }: TokenRequest): Promise<(User & { apiKeyId: string }) | undefined> {
    const user = await store.users.findByEmail(userName);
    const matches = matchesApiKey(apiKey, user?.apiKeyHash ?? null);
    if (user === undefined || !matches || user.apiKeyId === null) return undefined;
    return { ...user, apiKeyId: user.apiKeyId };
  }

  // Before the body is looked at, so that malformed requests count too.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => tries.countAddress(request, reply);

  app.post("/api/Auth/Token", { ...options, onRequest }, async (request, reply) => {
    const user = await authenticate(request.body);
    if (user === undefined) {
      tries.countName(request.body.userName, "wrong", request, reply);
      throw new ApiError("badCredentials");
    }
    const now = clock.now();
    const entry = await usage.requests.entry(user.key, now);
    usage.requests.add(entry, 1);
    request.caller = { user, apiUsage: entry.total, apiDailyUsage: entry.daily };
    tries.countName(request.body.userName, "right", request, reply);
    const refusal = inactivity(user, now);
    if (refusal !== undefined) throw refusal;
    await store.users.setLastLogin(user.key, now);
    const { token, expires } = tokens.issue(user.key, user.apiKeyId);
    return answer(request.caller, { token, expires: formatInstant(expires) });
  });
}
