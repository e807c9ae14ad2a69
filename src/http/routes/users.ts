import type { FastifyInstance } from "fastify";
import { WholeQuery } from "../../contract/page.ts";
import { UserAnswer, UserBody, UsersAnswer } from "../../contract/user.ts";
import { userView } from "../../domain/user-fields.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { jsonOf, wholeAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

/** GET and POST /api/users. */
export function usersRoutes(app: App, plain: FastifyInstance, services: Services): void {
  const { accountUsers } = services;
  plain.get<{ Querystring: WholeQuery }>(
    "/api/users",
    call({
      operationId: "listUsers",
      tag: "Users",
      summary: "List the users",
      description: "All of the account, in the order of their making; for a user without `admin` only itself.",
      permission: "see",
      input: { querystring: WholeQuery },
      ok: { 200: UsersAnswer },
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      return wholeAnswer(request, reply, services, {
        name: "users",
        scope: ["users", user.accountKey],
        read: (ask) => accountUsers.page(user, ask),
        text: jsonOf(userView),
        place: Number,
      });
    },
  );

  app.post(
    "/api/users",
    call({
      operationId: "createUser",
      tag: "Users",
      summary: "Create a user",
      description: "It can obtain tokens once it has an API key.",
      permission: "admin",
      input: { body: UserBody },
      ok: { 201: UserAnswer },
      invalid: "invalidInput",
      errors: ["invalidEmail", "emailInUse", "userLimit", "storageLimit"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { user, warnings } = await accountUsers.create(caller.user, request.body);
      reply.code(201).header("location", `/api/users/${encodeURIComponent(user.id)}`);
      return answer(caller, userView(user), warnings);
    },
  );
}
