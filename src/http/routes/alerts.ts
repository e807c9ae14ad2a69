import type { FastifyInstance } from "fastify";
import { AlertsAnswer, AlertsRequest } from "../../contract/alert.ts";
import { DevicePath } from "../../contract/device.ts";
import { historyBytes } from "../answers.ts";
import { call } from "../call.ts";
import { callerOf } from "../envelope.ts";
import { streamed } from "../history-answer.ts";
import type { Services } from "../services.ts";

/** POST /api/devices/{deviceId}/alerts (specification 4.6). */
export function alertsRoute(app: FastifyInstance, { devices, history, answers, log }: Services): void {
  app.post<{ Params: { deviceId: string }; Body: AlertsRequest }>(
    "/api/devices/:deviceId/alerts",
    call({
      operationId: "listAlerts",
      tag: "Devices",
      summary: "List a device's alerts in a range of time",
      description:
        "By time, both ends inclusive. Where `limit` or the device's daily results end the list before the range does, `nextCursor` leads on.",
      permission: "see",
      input: { params: DevicePath, body: AlertsRequest },
      ok: { 200: AlertsAnswer },
      errors: ["deviceNotFound", "dailyResults"],
    }),
    async (request, reply) => {
      answers.hold(reply, historyBytes);
      const device = await devices.find(callerOf(request).user, request.params.deviceId);
      return streamed(request, reply, await history.alerts(device, request.body), log);
    },
  );
}
