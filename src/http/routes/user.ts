import { DoneAnswer } from "../../contract/device.ts";
import { PatchRequest } from "../../contract/patch.ts";
import { UserAnswer, UserBody, UserPath } from "../../contract/user.ts";
import { userView } from "../../domain/user-fields.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { checkerOf } from "../check.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

const path = "/api/users/:userId";

/** GET, PUT, PATCH and DELETE /api/users/{userId}. */
export function userRoutes(app: App, services: Services): void {
  readRoute(app, services);
  replaceRoute(app, services);
  patchRoute(app, services);
  removeRoute(app, services);
}

function readRoute(app: App, { accountUsers }: Services): void {
  app.get(
    path,
    call({
      operationId: "readUser",
      record: true,
      tag: "Users",
      summary: "Read a user",
      description: "A user without `admin` reads only itself.",
      permission: "see",
      input: { params: UserPath },
      ok: { 200: UserAnswer },
      errors: ["userNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, userView(await accountUsers.find(caller.user, request.params.userId)));
    },
  );
}

function replaceRoute(app: App, { accountUsers }: Services): void {
  app.put(
    path,
    call({
      operationId: "replaceUser",
      record: true,
      tag: "Users",
      summary: "Replace a user's fields",
      description:
        "What the body leaves out is reset, but for the password. A new password ends the user's sessions, except the one that sets it. The caller's own e-mail address and password ask for `presentSecret`. The account's owner keeps `admin`, and nobody else changes its e-mail address, password or privileges.",
      permission: "admin",
      input: { params: UserPath, body: UserBody },
      ok: { 200: UserAnswer },
      invalid: "invalidInput",
      errors: ["userNotFound", "invalidEmail", "emailInUse", "ownerProtected", "storageLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { user, session } = caller;
      const { userId } = request.params;
      const replaced = await accountUsers.replace(user, userId, request.body, session?.signIn.key);
      return answer(caller, userView(replaced.user), replaced.warnings);
    },
  );
}

function patchRoute(app: App, { accountUsers }: Services): void {
  app.patch(
    path,
    call({
      operationId: "patchUser",
      record: true,
      tag: "Users",
      summary: "Change some of a user's fields",
      description:
        "A JSON Patch (RFC 6902), all of it or nothing; its result is checked like the body of a PUT. The caller's own e-mail address and password ask for a step that adds `/presentSecret`.",
      permission: "admin",
      input: { params: UserPath, body: PatchRequest },
      ok: { 200: UserAnswer },
      invalid: "invalidPatch",
      errors: [
        "userNotFound",
        "patchTestFailed",
        "invalidInput",
        "invalidEmail",
        "emailInUse",
        "ownerProtected",
        "storageLimit",
      ],
    }),
    async (request) => {
      const caller = callerOf(request);
      const check = checkerOf(request, UserBody, "invalidInput");
      const { user, session } = caller;
      const { userId } = request.params;
      const patched = await accountUsers.patch(user, userId, request.body, check, session?.signIn.key);
      return answer(caller, userView(patched.user), patched.warnings);
    },
  );
}

function removeRoute(app: App, { accountUsers }: Services): void {
  app.delete(
    path,
    call({
      operationId: "deleteUser",
      tag: "Users",
      summary: "Delete a user",
      description: "Its tokens and sessions end at once. The account's owner can't be deleted.",
      permission: "admin",
      input: { params: UserPath },
      ok: { 200: DoneAnswer },
      errors: ["userNotFound", "ownerProtected", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      await accountUsers.remove(caller.user, request.params.userId);
      return answer(caller, {});
    },
  );
}
