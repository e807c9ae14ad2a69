import { DoneAnswer } from "../../contract/device.ts";
import { GroupAnswer, GroupBody, GroupPath } from "../../contract/group.ts";
import { PatchRequest } from "../../contract/patch.ts";
import { groupView } from "../../domain/groups.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { checkerOf } from "../check.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

const path = "/api/groups/:groupId";

/** GET, PUT, PATCH and DELETE /api/groups/{groupId}. */
export function groupRoutes(app: App, services: Services): void {
  readRoute(app, services);
  replaceRoute(app, services);
  patchRoute(app, services);
  removeRoute(app, services);
}

function readRoute(app: App, { groups }: Services): void {
  app.get(
    path,
    call({
      operationId: "readGroup",
      record: true,
      tag: "Groups",
      summary: "Read a group",
      description: "A user without `admin` reads only its own.",
      permission: "see",
      input: { params: GroupPath },
      ok: { 200: GroupAnswer },
      errors: ["groupNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, groupView(await groups.find(caller.user, request.params.groupId)));
    },
  );
}

function replaceRoute(app: App, { groups }: Services): void {
  app.put(
    path,
    call({
      operationId: "replaceGroup",
      record: true,
      tag: "Groups",
      summary: "Replace a group's fields",
      description: "What the body leaves out is reset. A user without `admin` can add only devices that it may see.",
      permission: "write",
      input: { params: GroupPath, body: GroupBody },
      ok: { 200: GroupAnswer },
      invalid: "invalidInput",
      errors: ["groupNotFound", "deviceRuleLimit", "storageLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { group, warnings } = await groups.replace(caller.user, request.params.groupId, request.body);
      return answer(caller, groupView(group), warnings);
    },
  );
}

function patchRoute(app: App, { groups }: Services): void {
  app.patch(
    path,
    call({
      operationId: "patchGroup",
      record: true,
      tag: "Groups",
      summary: "Change some of a group's fields",
      description: "A JSON Patch (RFC 6902), all of it or nothing; its result is checked like the body of a PUT.",
      permission: "write",
      input: { params: GroupPath, body: PatchRequest },
      ok: { 200: GroupAnswer },
      invalid: "invalidPatch",
      errors: ["groupNotFound", "patchTestFailed", "invalidInput", "deviceRuleLimit", "storageLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const check = checkerOf(request, GroupBody, "invalidInput");
      const { group, warnings } = await groups.patch(caller.user, request.params.groupId, request.body, check);
      return answer(caller, groupView(group), warnings);
    },
  );
}

function removeRoute(app: App, { groups }: Services): void {
  app.delete(
    path,
    call({
      operationId: "deleteGroup",
      tag: "Groups",
      summary: "Delete a group",
      description:
        "Its devices stay. Users of the group see none of them any longer, and rules that name it watch none of them.",
      permission: "write",
      input: { params: GroupPath },
      ok: { 200: DoneAnswer },
      errors: ["groupNotFound", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, {}, await groups.remove(caller.user, request.params.groupId));
    },
  );
}
