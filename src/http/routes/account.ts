import { AccountAnswer } from "../../contract/account.ts";
import { capsView } from "../../domain/account-caps.ts";
import { leastIdentifiers } from "../../domain/device-aliases.ts";
import { licensesOf } from "../../domain/licenses.ts";
import { quotasView } from "../../domain/quotas.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

/** GET /api/account. */
export function accountRoute(app: App, services: Services): void {
  const { store, clock } = services;
  app.get(
    "/api/account",
    call({
      operationId: "readAccount",
      tag: "Account",
      summary: "Read the account, its licences, and what it may send and hold",
      permission: "see",
      input: {},
      ok: { 200: AccountAnswer },
    }),
    async (request) => {
      const caller = callerOf(request);
      const account = await store.accounts.find(caller.user.accountKey);
      if (account === undefined) throw new ApiError("invalidToken");
      const used = await store.accounts.licensesUsed(account.key, clock.now());
      const quotas = await store.accounts.quotas(account.key);
      const { id, name, timeZone, language, licenses, positionDays } = account;
      const most = Math.max(leastIdentifiers, licenses * services.caps.identifiersPerLicense);
      return answer(caller, {
        id,
        name,
        timeZone,
        language,
        licenses: licensesOf(licenses, used),
        ...(await capsView(services, account)),
        positionDays,
        identifiers: { limit: most, used: await store.devices.identifiersUsed(account.key) },
        quotas: quotasView(quotas),
      });
    },
  );
}
