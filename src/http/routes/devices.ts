import type { FastifyInstance } from "fastify";
import { DeviceAnswer, DevicesAnswer, NewDevice } from "../../contract/device.ts";
import { WholeQuery } from "../../contract/page.ts";
import { deviceView } from "../../domain/device-fields.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { answer, answerHead, callerOf, jsonType } from "../envelope.ts";
import { wholeAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

/** GET and POST /api/devices. */
export function devicesRoutes(app: App, plain: FastifyInstance, services: Services): void {
  listRoute(plain, services);
  createRoute(app, services);
}

/**
 * Asked for again and again: where the list is in memory it is answered within the same turn of the event loop, with
 * text that is ready.
 */
function listRoute(app: FastifyInstance, services: Services): void {
  const { devices } = services;
  app.get<{ Querystring: WholeQuery }>(
    "/api/devices",
    call({
      operationId: "listDevices",
      tag: "Devices",
      summary: "List the active devices",
      description: "Those of the account that have not expired and that the user may see, by id.",
      permission: "see",
      input: { querystring: WholeQuery },
      ok: { 200: DevicesAnswer },
    }),
    (request, reply) => {
      const caller = callerOf(request);
      const { user } = caller;
      const inPieces = () =>
        wholeAnswer(request, reply, services, {
          name: "devices",
          scope: ["devices", user.accountKey],
          read: (ask) => devices.page(user, ask),
          text: (json) => json,
          place: String,
        });
      const { limit, cursor } = request.query;
      if (limit !== undefined || cursor !== undefined) return inPieces();
      const list = devices.list(user);
      const send = (text: Uint8Array | undefined): ReturnType<typeof inPieces> | undefined => {
        if (text === undefined) return inPieces();
        reply.header("content-type", jsonType);
        reply.sendJoined(`${answerHead(caller)},"devices":[`, text, "]}");
        return undefined;
      };
      return list instanceof Promise ? list.then(send) : send(list);
    },
  );
}

function createRoute(app: App, { devices }: Services): void {
  app.post(
    "/api/devices",
    call({
      operationId: "createDevice",
      tag: "Devices",
      summary: "Register a device",
      description:
        "It uses a licence until it expires. A user without `admin` can register only a device that it may see.",
      permission: "write",
      input: { body: NewDevice },
      ok: { 201: DeviceAnswer },
      errors: ["deviceExists", "noLicense", "deviceExpired", "aliasNotAllowed", "identifierLimit"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { device, warnings } = await devices.create(caller.user, request.body);
      reply.code(201).header("location", `/api/devices/${encodeURIComponent(device.id)}`);
      return answer(caller, { device: deviceView(device) }, warnings);
    },
  );
}
