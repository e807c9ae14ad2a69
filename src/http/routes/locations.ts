import type { FastifyInstance } from "fastify";
import { DevicePath } from "../../contract/device.ts";
import { LocationsAnswer, LocationsRequest, ReadingsAnswer } from "../../contract/location.ts";
import { historyBytes } from "../answers.ts";
import { call } from "../call.ts";
import { callerOf } from "../envelope.ts";
import { streamed } from "../history-answer.ts";
import type { Services } from "../services.ts";

/** POST /api/devices/{deviceId}/locations (specification 4.5). */
export function locationsRoute(app: FastifyInstance, { devices, history, answers, log }: Services): void {
  app.post<{ Params: { deviceId: string }; Body: LocationsRequest }>(
    "/api/devices/:deviceId/locations",
    call({
      operationId: "listLocations",
      tag: "Devices",
      summary: "List a device's locations in a range of time",
      description:
        "By time, both ends inclusive. Where `limit` or the device's daily results end the list before the range does, `nextCursor` leads on.",
      permission: "see",
      input: { params: DevicePath, body: LocationsRequest },
      ok: { 200: LocationsAnswer },
      errors: ["deviceNotFound", "dailyResults"],
    }),
    async (request, reply) => {
      answers.hold(reply, historyBytes);
      const device = await devices.find(callerOf(request).user, request.params.deviceId);
      return streamed(request, reply, await history.locations(device, request.body), log);
    },
  );
}

/** POST /api/devices/{deviceId}/readings: what came without a position too. */
export function readingsRoute(app: FastifyInstance, { devices, history, answers, log }: Services): void {
  app.post<{ Params: { deviceId: string }; Body: LocationsRequest }>(
    "/api/devices/:deviceId/readings",
    call({
      operationId: "listReadings",
      tag: "Devices",
      summary: "List what a device reported in a range of time",
      description:
        "As it was reported, with a position or without: a sensor without GPS has no locations, and all its history here. By time and in pages as the locations are.",
      permission: "see",
      input: { params: DevicePath, body: LocationsRequest },
      ok: { 200: ReadingsAnswer },
      errors: ["deviceNotFound", "dailyResults"],
    }),
    async (request, reply) => {
      answers.hold(reply, historyBytes);
      const device = await devices.find(callerOf(request).user, request.params.deviceId);
      return streamed(request, reply, await history.readings(device, request.body), log);
    },
  );
}
