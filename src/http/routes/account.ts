import { AccountAnswer } from "../../contract/account.ts";
import { licensesOf } from "../../domain/licenses.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

/** GET /api/account. */
export function accountRoute(app: App, { store, clock }: Services): void {
  app.get(
    "/api/account",
    call({
      operationId: "readAccount",
      tag: "Account",
      summary: "Read the account and its licences",
      permission: "see",
      input: {},
      ok: { 200: AccountAnswer },
    }),
    async (request) => {
      const caller = callerOf(request);
      const account = await store.accounts.find(caller.user.accountKey);
      if (account === undefined) throw new ApiError("invalidToken");
      const used = await store.accounts.licensesUsed(account.key, clock.now());
      const { name, timeZone, language, licenses } = account;
      return answer(caller, { name, timeZone, language, licenses: licensesOf(licenses, used) });
    },
  );
}
