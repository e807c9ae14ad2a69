import { GroupAnswer, GroupBody, GroupsAnswer } from "../../contract/group.ts";
import { groupView } from "../../domain/groups.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

/** GET and POST /api/groups. */
export function groupsRoutes(app: App, { groups }: Services): void {
  app.get(
    "/api/groups",
    call({
      operationId: "listGroups",
      tag: "Groups",
      summary: "List the groups",
      description: "All of the account, in the order of their making; for a user without `admin` only its own.",
      permission: "see",
      input: {},
      ok: { 200: GroupsAnswer },
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, { groups: (await groups.list(caller.user)).map(groupView) });
    },
  );

  app.post(
    "/api/groups",
    call({
      operationId: "createGroup",
      tag: "Groups",
      summary: "Create a group",
      description:
        "A user without `admin` can create only a group of the name that its `group` has, of devices that it may see.",
      permission: "write",
      input: { body: GroupBody },
      ok: { 201: GroupAnswer },
      invalid: "invalidInput",
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { group, warnings } = await groups.create(caller.user, request.body);
      reply.code(201).header("location", `/api/groups/${encodeURIComponent(group.id)}`);
      return answer(caller, groupView(group), warnings);
    },
  );
}
