import type { FastifyInstance } from "fastify";
import { DoneAnswer } from "../../contract/device.ts";
import { GeofenceAnswer, GeofenceBody, GeofencePath, GeofencesAnswer } from "../../contract/geofence.ts";
import { PageQuery } from "../../contract/page.ts";
import { PatchRequest } from "../../contract/patch.ts";
import { geofenceJson, geofenceView } from "../../domain/geofences.ts";
import type { App } from "../app.ts";
import { call } from "../call.ts";
import { checkerOf } from "../check.ts";
import { answer, callerOf } from "../envelope.ts";
import { pageAnswer } from "../list-answer.ts";
import type { Services } from "../services.ts";

const path = "/api/geofences/:geofenceId";

/** GET and POST /api/geofences; GET, PUT, PATCH and DELETE /api/geofences/{geofenceId}. */
export function geofencesRoutes(app: App, plain: FastifyInstance, services: Services): void {
  listRoute(plain, services);
  createRoute(app, services);
  readRoute(app, services);
  replaceRoute(app, services);
  patchRoute(app, services);
  removeRoute(app, services);
}

function listRoute(app: FastifyInstance, services: Services): void {
  const { geofences } = services;
  app.get<{ Querystring: PageQuery }>(
    "/api/geofences",
    call({
      operationId: "listGeofences",
      tag: "Alerts",
      summary: "List the geofences",
      description: "All of the account, in the order of their making.",
      permission: "see",
      input: { querystring: PageQuery },
      ok: { 200: GeofencesAnswer },
    }),
    async (request, reply) => {
      const { user } = callerOf(request);
      return pageAnswer(request, reply, services, request.query, {
        name: "geofences",
        scope: ["geofences", user.accountKey],
        read: (ask) => geofences.page(user, ask),
        text: geofenceJson,
        place: Number,
      });
    },
  );
}

function createRoute(app: App, { geofences }: Services): void {
  app.post(
    "/api/geofences",
    call({
      operationId: "createGeofence",
      record: true,
      tag: "Alerts",
      summary: "Create a geofence",
      permission: "write",
      input: { body: GeofenceBody },
      ok: { 201: GeofenceAnswer },
      invalid: "invalidInput",
      errors: ["geofenceLimit", "storageLimit"],
    }),
    async (request, reply) => {
      const caller = callerOf(request);
      const { geofence, warnings } = await geofences.create(caller.user, request.body);
      reply.code(201).header("location", `/api/geofences/${encodeURIComponent(geofence.id)}`);
      return answer(caller, geofenceView(geofence), warnings);
    },
  );
}

function readRoute(app: App, { geofences }: Services): void {
  app.get(
    path,
    call({
      operationId: "readGeofence",
      record: true,
      tag: "Alerts",
      summary: "Read a geofence",
      permission: "see",
      input: { params: GeofencePath },
      ok: { 200: GeofenceAnswer },
      errors: ["geofenceNotFound"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, geofenceView(await geofences.find(caller.user, request.params.geofenceId)));
    },
  );
}

function replaceRoute(app: App, { geofences }: Services): void {
  app.put(
    path,
    call({
      operationId: "replaceGeofence",
      record: true,
      tag: "Alerts",
      summary: "Replace a geofence's fields",
      description:
        "What the body leaves out is reset. Only a user who sees all rules that name the geofence can change it.",
      permission: "write",
      input: { params: GeofencePath, body: GeofenceBody },
      ok: { 200: GeofenceAnswer },
      invalid: "invalidInput",
      errors: ["geofenceNotFound", "geofenceLimit", "storageLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const { geofence, warnings } = await geofences.replace(caller.user, request.params.geofenceId, request.body);
      return answer(caller, geofenceView(geofence), warnings);
    },
  );
}

function patchRoute(app: App, { geofences }: Services): void {
  app.patch(
    path,
    call({
      operationId: "patchGeofence",
      record: true,
      tag: "Alerts",
      summary: "Change some of a geofence's fields",
      description: "A JSON Patch (RFC 6902), all of it or nothing; its result is checked like the body of a PUT.",
      permission: "write",
      input: { params: GeofencePath, body: PatchRequest },
      ok: { 200: GeofenceAnswer },
      invalid: "invalidPatch",
      errors: ["geofenceNotFound", "patchTestFailed", "invalidInput", "geofenceLimit", "storageLimit"],
    }),
    async (request) => {
      const caller = callerOf(request);
      const check = checkerOf(request, GeofenceBody, "invalidInput");
      const { params, body } = request;
      const { geofence, warnings } = await geofences.patch(caller.user, params.geofenceId, body, check);
      return answer(caller, geofenceView(geofence), warnings);
    },
  );
}

function removeRoute(app: App, { geofences }: Services): void {
  app.delete(
    path,
    call({
      operationId: "deleteGeofence",
      tag: "Alerts",
      summary: "Delete a geofence",
      description:
        "Rules that name it watch their other zones, or can't fire any more where it was the last one or a condition's, and say so. Only a user who sees all of these can delete it.",
      permission: "write",
      input: { params: GeofencePath },
      ok: { 200: DoneAnswer },
      errors: ["geofenceNotFound", "unsupportedMediaType"],
    }),
    async (request) => {
      const caller = callerOf(request);
      return answer(caller, {}, await geofences.remove(caller.user, request.params.geofenceId));
    },
  );
}
