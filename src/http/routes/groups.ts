import type { FastifyInstance } from "fastify";
import { GroupAnswer, GroupBody, GroupsAnswer } from "../../contract/group.ts";
import { WholeQuery } from "../../contract/page.ts";
import { groupView } from "../../domain/groups.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { jsonOf, wholeAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

/** GET and POST /api/groups. */
export function groupsRoutes(app: App, plain: FastifyInstance, services: Services): void {
  const { groups } = services;
  plain.get<{ Querystring: WholeQuery }>(
    "/api/groups",
    call({
      operationId: "listGroups",
      tag: "Groups",
      summary: "List the groups",
      description: "All of the account, in the order of their making; for a user without `admin` only its own.",
      permission: "see",
      input: { querystring: WholeQuery },
      ok: { 200: GroupsAnswer },
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      return wholeAnswer(request, reply, services, {
        name: "groups",
        scope: ["groups", user.accountKey],
        read: (ask) => groups.page(user, ask),
        text: jsonOf(groupView),
        place: Number,
      });
    },
  );

  app.post(
    "/api/groups",
    call({
      operationId: "createGroup",
      record: true,
      tag: "Groups",
      summary: "Create a group",
      description:
        "A user without `admin` can create only a group of the name that its `group` has, of devices that it may see.",
      permission: "write",
      input: { body: GroupBody },
      ok: { 201: GroupAnswer },
      invalid: "invalidInput",
      errors: ["groupLimit", "storageLimit"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { group, warnings } = await groups.create(caller.user, request.body);
      reply.code(201).header("location", `/api/groups/${encodeURIComponent(group.id)}`);
      return answer(caller, groupView(group), warnings);
    },
  );
}
