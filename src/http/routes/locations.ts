import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { DevicePath } from "../../contract/device.ts";
import { LocationsAnswer, LocationsRequest } from "../../contract/location.ts";
import type { HistoryPieces } from "../../domain/history.ts";
import { call } from "../call.ts";
import { answerHead, callerOf, jsonType } from "../envelope.ts";
import type { Services } from "../services.ts";

/**
 * POST /api/devices/{deviceId}/locations (specification 4.5). The store's chunks go to the socket as they come and as fast as the client reads;
 * where the store fails after the first one, the connection is cut, so that no client takes a part for the whole.
 */
export function locationsRoute(app: FastifyInstance, { devices, history }: Services): void {
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
      const caller = callerOf(request);
      const device = await devices.find(caller.user, request.params.deviceId);
      const { start, rest } = await history.open(device, request.body);
      // The request was answered with 408 meanwhile: nobody will read this.
      if (reply.sent) return void rest.return();
      reply.header("content-type", jsonType);
      return Readable.from(framed(`${answerHead(caller)},${start}`, rest), { objectMode: false });
    },
  );
}

async function* framed(head: string, rest: HistoryPieces): AsyncGenerator<string | Uint8Array> {
  try {
    yield head;
    yield* rest;
    yield "}";
  } finally {
    await rest.return();
  }
}
