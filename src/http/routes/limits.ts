import { DevicePath, LimitsAnswer, LimitsReplacement } from "../../contract/device.ts";
import { formatInstant } from "../../contract/time.ts";
import { ApiError } from "../../errors/catalogue.ts";
import { dayIn } from "../../model/account-day.ts";
import type { Device } from "../../model/device.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

const path = "/api/devices/:deviceId/limits";

/** GET and PUT /api/devices/{deviceId}/limits (specification 8). */
export function limitsRoutes(app: App, services: Services): void {
  const { devices } = services;
  app.get(
    path,
    call({
      operationId: "readLimits",
      tag: "Devices",
      summary: "Read a device's limits",
      permission: "see",
      input: { params: DevicePath },
      ok: { 200: LimitsAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, await limitsView(services, await devices.find(caller.user, request.params.deviceId)));
    },
  );

  app.put(
    path,
    call({
      operationId: "replaceLimits",
      tag: "Devices",
      summary: "Replace a device's limits",
      description: "What the body leaves out is reset: no expiry, 50 e-mails, 10 SMS.",
      permission: "write",
      input: { params: DevicePath, body: LimitsReplacement },
      ok: { 200: LimitsAnswer },
      errors: ["deviceNotFound", "noLicense", "limitCapped"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { device, warnings } = await devices.setLimits(caller.user, request.params.deviceId, request.body);
      return answer(caller, await limitsView(services, device), warnings);
    },
  );
}

/** The limits that hold: what the operator allows by now may be less than what was set. */
async function limitsView({ store, clock, capsOf }: Services, device: Device) {
  const account = await store.accounts.find(device.accountKey);
  if (account === undefined) throw new ApiError("deviceNotFound");
  const { deviceDailyEmails, deviceDailySms } = capsOf(account);
  const sent = await store.daily.sent(device.key, dayIn(account.timeZone, clock.now()));
  return {
    expires: device.expires === null ? null : formatInstant(device.expires),
    dailyEmailLimit: Math.min(device.dailyEmailLimit, deviceDailyEmails),
    dailySmsLimit: Math.min(device.dailySmsLimit, deviceDailySms),
    emailsSentToday: sent.email,
    smsSentToday: sent.sms,
  };
}
