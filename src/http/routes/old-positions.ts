import { AccountPath } from "../../contract/admin.ts";
import { DevicePath } from "../../contract/device.ts";
import { OldPositionsAnswer, OldPositionsQuery, ServiceOldPositionsAnswer } from "../../contract/old-positions.ts";
import { devicesOfAccount, previewOfDevices } from "../../domain/old-positions.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf, serviceAnswer } from "../envelope.ts";
import type { Services } from "../services.ts";

const description =
  "Counts what `positionDays` would delete of the positions that are stored now, and deletes nothing. Deleted positions can't be brought back, so look here before you set `positionDays`.";

/**
 * Previews of `positionDays`, GET .../oldPositions: of the caller's account, of a device, and for the operator of any
 * account.
 */
export function oldPositionsRoutes(app: App, services: Services): void {
  ownRoute(app, services);
  deviceRoute(app, services);
  accountRoute(app, services);
}

function ownRoute(app: App, services: Services): void {
  app.get(
    "/api/account/oldPositions",
    call({
      operationId: "countOldPositions",
      tag: "Account",
      summary: "Count the positions that `positionDays` of the account would delete",
      description: `${description} Devices with days of their own are left out.`,
      permission: "admin",
      input: { querystring: OldPositionsQuery },
      ok: { 200: OldPositionsAnswer },
    }),
    async (request) => {
      const caller = callerOf(request);
      const devices = devicesOfAccount(services, caller.user.accountKey);
      return answer(caller, { oldPositions: await preview(services, devices, request.query) });
    },
  );
}

function deviceRoute(app: App, services: Services): void {
  app.get(
    "/api/devices/:deviceId/oldPositions",
    call({
      operationId: "countOldPositionsOfDevice",
      tag: "Devices",
      summary: "Count the positions that `positionDays` of a device would delete",
      description,
      permission: "see",
      input: { params: DevicePath, querystring: OldPositionsQuery },
      ok: { 200: OldPositionsAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { key } = await services.devices.find(caller.user, request.params.deviceId);
      return answer(caller, { oldPositions: await preview(services, pageOf(key), request.query) });
    },
  );
}

function accountRoute(app: App, services: Services): void {
  app.get(
    "/api/admin/accounts/:accountId/oldPositions",
    call({
      operationId: "countOldPositionsOfAccount",
      tag: "Operation",
      summary: "Count the positions that `positionDays` of an account would delete",
      description: `${description} Devices with days of their own are left out.`,
      permission: "operator",
      input: { params: AccountPath, querystring: OldPositionsQuery },
      ok: { 200: ServiceOldPositionsAnswer },
      errors: ["accountNotFound"],
    }),
    async ({ caller, params, query }) => {
      const account = await services.store.accounts.findById(params.accountId);
      if (account === undefined) throw new ApiError("accountNotFound");
      const devices = devicesOfAccount(services, account.key);
      return serviceAnswer(caller, { oldPositions: await preview(services, devices, query) });
    },
  );
}

function preview(services: Services, devices: AsyncIterable<readonly number[]>, { days }: OldPositionsQuery) {
  return previewOfDevices(services, devices, Number(days));
}

async function* pageOf(key: number) {
  yield [key];
}
