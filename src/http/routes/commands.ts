import {
  CommandHeaders,
  CommandPath,
  CommandRequest,
  CommandResultAnswer,
  CommandsAnswer,
  CommandsQuery,
} from "../../contract/command.ts";
import { DevicePath, DoneAnswer } from "../../contract/device.ts";
import { unknownTerms } from "../../domain/bodies.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

/** POST .../sendCommand (specification 4.7), and the records of commands. */
export function commandRoutes(app: App, services: Services): void {
  sendRoute(app, services);
  listRoute(app, services);
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

function listRoute(app: App, { commands }: Services): void {
  app.get(
    "/api/devices/:deviceId/commands",
    call({
      operationId: "listCommands",
      tag: "Devices",
      summary: "List a device's commands",
      description: "The newest first, each with what became of it and who asked for it.",
      permission: "see",
      input: { params: DevicePath, querystring: CommandsQuery },
      ok: { 200: CommandsAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, await commands.list(caller.user, request.params.deviceId, request.query));
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
