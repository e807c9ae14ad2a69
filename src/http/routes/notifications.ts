import type { FastifyInstance } from "fastify";
import { DevicePath } from "../../contract/device.ts";
import { NoticeAnswer, NoticePath, NoticesAnswer, NoticesQuery } from "../../contract/notice.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

const path = "/api/devices/:deviceId/notifications";

/** GET /api/devices/{deviceId}/notifications, and sending one again. */
export function notificationsRoutes(app: App, plain: FastifyInstance, services: Services): void {
  const { notices } = services;
  plain.get<{ Params: { deviceId: string }; Querystring: NoticesQuery }>(
    path,
    call({
      operationId: "listNotifications",
      tag: "Alerts",
      summary: "List a device's notifications",
      description: "The newest first, each with what became of it. They are kept for 90 days after their end.",
      permission: "see",
      input: { params: DevicePath, querystring: NoticesQuery },
      ok: { 200: NoticesAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      const { deviceId } = request.params;
      const { state } = request.query;
      return pageAnswer(request, reply, services, request.query, {
        name: "notifications",
        scope: ["notifications", user.accountKey, deviceId, state ?? ""],
        read: (ask) => notices.page(user, deviceId, ask, state),
        text: JSON.stringify,
        place: Number,
      });
    },
  );

  app.post(
    `${path}/:notificationId/resend`,
    call({
      operationId: "resendNotification",
      tag: "Alerts",
      summary: "Send a notification again",
      description:
        "One that was sent, failed or was suppressed is queued once more, under the same id. An SMS needs the privilege `sendSmsAlerts`, a command `sendCommands` or `sendSmsCommands`. It takes a place of the device's and the account's day anew. Where the user does not see the rule, there is no such notification; of a deleted rule `admin` alone may.",
      permission: "write",
      input: { params: NoticePath },
      ok: { 200: NoticeAnswer },
      errors: [
        "deviceNotFound",
        "notificationNotFound",
        "notificationUnfinished",
        "notificationResent",
        "unsupportedMediaType",
      ],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { deviceId, notificationId } = request.params;
      return answer(caller, { notification: await notices.resend(caller.user, deviceId, notificationId) });
    },
  );
}
