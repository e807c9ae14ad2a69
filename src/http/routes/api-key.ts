import { DoneAnswer } from "../../contract/device.ts";
import { formatInstant } from "../../contract/time.ts";
import { ApiKeyAnswer, ApiKeyInfoAnswer, ApiKeyRequest, PublicKeysAnswer, UserPath } from "../../contract/user.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

const path = "/api/users/:userId/apiKey";

/** GET, POST and DELETE /api/users/{userId}/apiKey, and the key that passwords are encrypted for. */
export function apiKeyRoutes(app: App, services: Services): void {
  keyRoutes(app, services);
  publicKeysRoute(app, services);
}

function keyRoutes(app: App, { accountUsers }: Services): void {
  app.get(
    path,
    call({
      operationId: "readApiKey",
      tag: "Users",
      summary: "Read whether a user has an API key",
      description: "Which one, and since when; never the key itself. A user without `admin` reads its own.",
      permission: "see",
      input: { params: UserPath },
      ok: { 200: ApiKeyInfoAnswer },
      errors: ["userNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { apiKeyId: id } = await accountUsers.find(caller.user, request.params.userId);
      return answer(caller, { key: id === null ? null : { id, creation: madeAt(id) } });
    },
  );

  app.post(
    path,
    call({
      operationId: "createApiKey",
      tag: "Users",
      summary: "Make a user's API key",
      description:
        "Shown this once. The key before it and its tokens end at once, which its holder is told by e-mail. For the user itself, and for any user with `admin`; the owner's is made by the owner alone. It asks for the caller's own present API key or password: a token that was stolen does not suffice.",
      permission: "see",
      input: { params: UserPath, body: ApiKeyRequest },
      ok: { 201: ApiKeyAnswer },
      errors: ["userNotFound", "permissionDenied", "ownerProtected"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { userId } = request.params;
      const apiKey = await accountUsers.makeApiKey(caller.user, userId, request.body);
      reply.code(201).header("location", `/api/users/${encodeURIComponent(userId)}/apiKey`);
      return answer(caller, { apiKey });
    },
  );

  app.delete(
    path,
    call({
      operationId: "deleteApiKey",
      tag: "Users",
      summary: "End a user's API key",
      description:
        "Its tokens end at once, which its holder is told by e-mail. For the user itself, and for any user with `admin`. The account's owner keeps a key: a new one replaces it.",
      permission: "see",
      input: { params: UserPath },
      ok: { 200: DoneAnswer },
      errors: ["userNotFound", "ownerProtected", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      await accountUsers.removeApiKey(caller.user, request.params.userId);
      return answer(caller, {});
    },
  );
}

/**
 * When an id was made: its first 48 bits are epoch ms (UUID version 7, RFC 9562, 5.7). Null where it is of another
 * form.
 */
function madeAt(id: string): string | null {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7/.exec(id) ?? [];
  return high === undefined || low === undefined ? null : formatInstant(Number.parseInt(high + low, 16));
}

function publicKeysRoute(app: App, { passwords }: Services): void {
  app.get(
    "/.well-known/jwks.json",
    call({
      operationId: "readPublicKeys",
      tag: "Users",
      summary: "Read the key that passwords can be encrypted for",
      description: "A JWK set (RFC 7517), without the envelope.",
      permission: "public",
      input: {},
      ok: { 200: PublicKeysAnswer },
    }),
    async (_request, reply) => {
      reply.header("cache-control", "public, max-age=300");
      const { keys } = await passwords.publicKeys();
      return { keys: [...keys] };
    },
  );
}
