import type { FastifyInstance } from "fastify";
import { DevicePath } from "../../contract/device.ts";
import { LastLocationAnswer } from "../../contract/location.ts";
import type { Device } from "../../model/device.ts";
import { call } from "../call.ts";
import type { Caller } from "../caller.ts";
import { answerHead, callerOf, jsonType } from "../envelope.ts";
import type { Services } from "../services.ts";

/**
 * GET /api/devices/{deviceId}/lastLocation (specification 4.4). The most frequent call: where the user, the device and
 * its state are in memory it answers within the same turn of the event loop, with text that is ready.
 */
export function lastLocationRoute(app: FastifyInstance, { devices, lastLocations }: Services): void {
  function answerFor(caller: Caller, device: Device): string | Promise<string> {
    const location = lastLocations.lastLocation(device);
    return location instanceof Promise ? location.then((text) => textOf(caller, text)) : textOf(caller, location);
  }

  app.get<{ Params: { deviceId: string } }>(
    "/api/devices/:deviceId/lastLocation",
    call({
      operationId: "readLastLocation",
      tag: "Devices",
      summary: "Read a device's last location",
      permission: "see",
      input: { params: DevicePath },
      ok: { 200: LastLocationAnswer },
      errors: ["deviceNotFound"],
    }),
    (request, reply) => {
      const caller = callerOf(request);
      reply.header("content-type", jsonType);
      const device = devices.find(caller.user, request.params.deviceId);
      const text =
        device instanceof Promise ? device.then((found) => answerFor(caller, found)) : answerFor(caller, device);
      if (text instanceof Promise) return text;
      return reply.send(text);
    },
  );
}

function textOf(caller: Caller, location: string | undefined): string {
  return `${answerHead(caller)},"lastLocation":${location ?? "null"}}`;
}
