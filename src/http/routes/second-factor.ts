import { DoneAnswer } from "../../contract/device.ts";
import { PasswordRequest, SecondFactorAnswer, SecondFactorEnd, SecondFactorRequest } from "../../contract/session.ts";
import { UserPath } from "../../contract/user.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";
import type { SignInLimits } from "../sign-in-limits.ts";
import { personOf } from "./session.ts";

const path = "/api/session/second-factor";

/** What a person changes of its own way in, and DELETE /api/users/{userId}/secondFactor. */
export function secondFactorRoutes(app: App, services: Services, tries: SignInLimits): void {
  passwordRoute(app, services);
  makeRoute(app, services, tries);
  endRoutes(app, services);
}

function passwordRoute(app: App, { people }: Services): void {
  app.put(
    "/api/session/password",
    call({
      operationId: "changeOwnPassword",
      tag: "Authentication",
      summary: "Change one's own password",
      description: "Ends all other sessions of the user.",
      permission: "person",
      input: { body: PasswordRequest },
      ok: { 200: DoneAnswer },
      errors: ["invalidInput", "permissionDenied"],
    }),
    async (request) => {
      const caller = personOf(request);
      await people.changePassword(caller.user, request.body, caller.session.signIn.key);
      return answer(caller, {});
    },
  );
}

function makeRoute(app: App, { people }: Services, tries: SignInLimits): void {
  app.post(
    path,
    call({
      operationId: "makeSecondFactor",
      tag: "Authentication",
      summary: "Begin a second factor, or confirm it",
      description:
        "With `presentSecret` it gives the secret of an authenticator app (TOTP: SHA-1, 6 digits, 30 s), in place of one that was not confirmed. With a `code` of the app it confirms it, and gives ten recovery codes. From then on signing in asks for a code.",
      permission: "person",
      input: { body: SecondFactorRequest },
      ok: { 200: SecondFactorAnswer },
      errors: ["permissionDenied", "secondFactorSet", "noSecondFactor", "wrongCode"],
    }),
    async (request) => {
      const caller = personOf(request);
      const { presentSecret, code } = request.body;
      if ((presentSecret === undefined) === (code === undefined))
        throw new ApiError("badRequest", ["body: must have either presentSecret or code"]);
      if (code !== undefined) {
        // Who has but a stolen session must not confirm by guessing what the person began.
        const counted = tries.countCode(caller.user.key, "session", request);
        const codes = await people.confirmFactor(caller.user, code);
        counted.right();
        return answer(caller, { secret: null, uri: null, recoveryCodes: [...codes] });
      }
      const begun = await people.beginFactor(caller.user, presentSecret ?? "");
      return answer(caller, { ...begun, recoveryCodes: null });
    },
  );
}

function endRoutes(app: App, { people, accountUsers }: Services): void {
  app.delete(
    path,
    call({
      operationId: "endSecondFactor",
      tag: "Authentication",
      summary: "End one's own second factor",
      description: "Signing in asks for no code any more. The recovery codes end too.",
      permission: "person",
      input: { body: SecondFactorEnd },
      ok: { 200: DoneAnswer },
      errors: ["permissionDenied", "noSecondFactor"],
    }),
    async (request) => {
      const caller = personOf(request);
      await people.endFactor(caller.user, caller.user, request.body.presentSecret);
      return answer(caller, {});
    },
  );

  app.delete(
    "/api/users/:userId/secondFactor",
    call({
      operationId: "endSecondFactorOfUser",
      tag: "Users",
      summary: "End a user's second factor",
      description:
        "For who has lost the authenticator and the recovery codes; the user is told by e-mail. For the user itself, and for any user with `admin`; the owner's is ended by the owner alone, by its API key. It asks for the caller's own present API key or password.",
      permission: "see",
      input: { params: UserPath, body: SecondFactorEnd },
      ok: { 200: DoneAnswer },
      errors: ["userNotFound", "permissionDenied", "ownerProtected", "noSecondFactor"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const user = await accountUsers.find(caller.user, request.params.userId);
      await people.endFactor(caller.user, user, request.body.presentSecret);
      return answer(caller, {});
    },
  );
}
