import type { FastifyInstance } from "fastify";
import {
  CommandHeaders,
  CommandPath,
  CommandRequest,
  CommandResultAnswer,
  CommandsAnswer,
} from "../../contract/command.ts";
import { DevicePath, DoneAnswer } from "../../contract/device.ts";
import { PageQuery } from "../../contract/page.ts";
import { unknownTerms } from "../../domain/bodies.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

/** POST .../sendCommand (specification 4.7), and the records of commands. */
export function commandRoutes(app: App, plain: FastifyInstance, services: Services): void {
  sendRoute(app, services);
  listRoute(plain, services);
  cancelRoute(app, services);
}

function sendRoute(app: App, { commands }: Services): void {
  app.post(
    "/api/devices/:deviceId/sendCommand",
    call({
      operationId: "sendCommand",
      tag: "Devices",
      summary: "Send a command to a device",
      description:
        "Over its data connection, and then the answer waits some seconds for the device's reply; or by SMS. While the device is not connected the command waits in a queue. Needs the privilege `sendCommands`, by SMS `sendSmsCommands`; `execute` is both.",
      permission: "command",
      input: { params: DevicePath, headers: CommandHeaders, body: CommandRequest },
      ok: { 200: CommandResultAnswer },
      errors: ["deviceNotFound", "deviceExpired", "noPhone", "idempotencyConflict", "dailySms", "smsNotConfigured"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { params, body, headers } = request;
      const outcome = await commands.send(caller.user, params.deviceId, body, headers["idempotency-key"]);
      return answer(caller, outcome, unknownTerms(body, CommandRequest.properties));
    },
  );
}

function listRoute(app: FastifyInstance, services: Services): void {
  const { commands } = services;
  app.get<{ Params: { deviceId: string }; Querystring: PageQuery }>(
    "/api/devices/:deviceId/commands",
    call({
      operationId: "listCommands",
      tag: "Devices",
      summary: "List a device's commands",
      description: "The newest first, each with what became of it and who asked for it.",
      permission: "see",
      input: { params: DevicePath, querystring: PageQuery },
      ok: { 200: CommandsAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      const { deviceId } = request.params;
      return pageAnswer(request, reply, services, request.query, {
        name: "commands",
        scope: ["commands", user.accountKey, deviceId],
        read: (ask) => commands.page(user, deviceId, ask),
        text: JSON.stringify,
        place: Number,
      });
    },
  );
}

function cancelRoute(app: App, { commands }: Services): void {
  app.delete(
    "/api/devices/:deviceId/commands/:commandId",
    call({
      operationId: "cancelCommand",
      tag: "Devices",
      summary: "Cancel a queued command",
      permission: "command",
      input: { params: CommandPath },
      ok: { 200: DoneAnswer },
      errors: ["deviceNotFound", "commandNotFound", "commandFinished", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      await commands.cancel(caller.user, request.params.deviceId, request.params.commandId);
      return answer(caller, {});
    },
  );
}
