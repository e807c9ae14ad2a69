import type { FastifyInstance } from "fastify";
import { AlertRulesAnswer, DeviceRulesBody } from "../../contract/alert-rule.ts";
import { DevicePath } from "../../contract/device.ts";
import { PageQuery } from "../../contract/page.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

const path = "/api/devices/:deviceId/alertRules";

/** GET and PUT /api/devices/{deviceId}/alertRules. */
export function deviceRulesRoutes(app: App, plain: FastifyInstance, services: Services): void {
  const { alertRules } = services;
  plain.get<{ Params: { deviceId: string }; Querystring: PageQuery }>(
    path,
    call({
      operationId: "listDeviceAlertRules",
      tag: "Alerts",
      summary: "List the alert rules that watch a device",
      description: "By itself or by a group; for a user without `admin` those of which it sees every device and group.",
      permission: "see",
      input: { params: DevicePath, querystring: PageQuery },
      ok: { 200: AlertRulesAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      const { deviceId } = request.params;
      return pageAnswer(request, reply, services, request.query, {
        name: "rules",
        scope: ["device rules", user.accountKey, deviceId],
        read: (ask) => alertRules.pageOfDevice(user, deviceId, ask),
        text: JSON.stringify,
        place: Number,
      });
    },
  );

  app.put(
    path,
    call({
      operationId: "replaceDeviceAlertRules",
      record: true,
      tag: "Alerts",
      summary: "Replace all alert rules that watch a device alone",
      description:
        "All or nothing. A rule with the `id` of one that is there replaces it and keeps the secrets of its webhooks; those that no rule names are deleted. Rules that watch other devices or groups too stay as they are. The answer has the new ones, in their order.",
      permission: "write",
      input: { params: DevicePath, body: DeviceRulesBody },
      ok: { 200: AlertRulesAnswer },
      invalid: "invalidInput",
      errors: ["deviceNotFound", "alertRuleLimit", "deviceRuleLimit", "webhookLimit", "storageLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { deviceId } = request.params;
      const { rules, warnings } = await alertRules.replaceOfDevice(caller.user, deviceId, request.body);
      return answer(caller, { rules: [...rules] }, warnings);
    },
  );
}
