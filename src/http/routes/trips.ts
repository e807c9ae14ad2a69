import type { FastifyInstance } from "fastify";
import { DevicePath } from "../../contract/device.ts";
import { DaysAnswer, DaysRequest, TripsAnswer, TripsRequest } from "../../contract/trip.ts";
import { historyBytes } from "../answers.ts";
import { call } from "../call.ts";
import { answer, callerOf } from "../envelope.ts";
import type { Services } from "../services.ts";

/** POST /api/devices/{deviceId}/trips and /days. */
export function tripRoutes(app: FastifyInstance, { answers, devices, trips }: Services): void {
  app.post<{ Params: { deviceId: string }; Body: TripsRequest }>(
    "/api/devices/:deviceId/trips",
    call({
      operationId: "listTrips",
      tag: "Devices",
      summary: "List a device's trips and stops in a range of time",
      description:
        "Made from the device's history as it is now, so what comes late counts as if it had come in time. Trips and stops alternate. A trip begins where the device last stood, and ends where it last moved.",
      permission: "see",
      input: { params: DevicePath, body: TripsRequest },
      ok: { 200: TripsAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request, reply) => {
      answers.hold(reply, historyBytes);
      const caller = callerOf(request);
      const device = await devices.find(caller.user, request.params.deviceId);
      const { warnings, ...found } = await trips.list(device, request.body, () => answers.stillOpen(reply));
      return answer(caller, found, warnings);
    },
  );
  app.post<{ Params: { deviceId: string }; Body: DaysRequest }>(
    "/api/devices/:deviceId/days",
    call({
      operationId: "listDays",
      tag: "Devices",
      summary: "Sum up a device's days in a range of time",
      description:
        "Distance, trips, idling and the highest speed of each day with a report, from the history as it is now.",
      permission: "see",
      input: { params: DevicePath, body: DaysRequest },
      ok: { 200: DaysAnswer },
      errors: ["deviceNotFound"],
    }),
    async (request, reply) => {
      answers.hold(reply, historyBytes);
      const caller = callerOf(request);
      const device = await devices.find(caller.user, request.params.deviceId);
      const { warnings, ...found } = await trips.days(caller.user, device, request.body, () =>
        answers.stillOpen(reply),
      );
      return answer(caller, found, warnings);
    },
  );
}
