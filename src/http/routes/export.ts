import type { FastifyInstance } from "fastify";
import { DevicePath } from "../../contract/device.ts";
import { CsvFile, ExportQuery, exportFormats, GeojsonFile, GpxFile, KmlFile } from "../../contract/export.ts";
import { historyBytes } from "../answers.ts";
import { call } from "../call.ts";
import { callerOf } from "../envelope.ts";
import { sendPieces } from "../history-answer.ts";
import type { Services } from "../services.ts";

/** What an export holds beside the history that it is made of: one of its pieces as objects, and as text. */
const exportBytes = 3 * historyBytes;

const files = {
  [exportFormats.csv]: { schema: CsvFile },
  [exportFormats.gpx]: { schema: GpxFile },
  [exportFormats.kml]: { schema: KmlFile },
  [exportFormats.geojson]: { schema: GeojsonFile },
};

/** GET /api/devices/{deviceId}/export: a device's locations as a file. */
export function exportRoute(app: FastifyInstance, { devices, exports, answers, log }: Services): void {
  app.get<{ Params: { deviceId: string }; Querystring: ExportQuery }>(
    "/api/devices/:deviceId/export",
    call({
      operationId: "exportLocations",
      tag: "Devices",
      summary: "Export a device's locations in a range of time as a file",
      description:
        "CSV, GPX, KML or GeoJSON, streamed. The file names its time zone and units. Where the device's daily results end it before the range does, its last lines say so and where to go on. A file that ends without its end, with the connection cut, is not whole: the service failed on the way.",
      permission: "see",
      input: { params: DevicePath, querystring: ExportQuery },
      ok: {
        200: { description: "The file.", content: files },
      },
      errors: ["deviceNotFound", "dailyResults"],
    }),
    async (request, reply) => {
      answers.hold(reply, historyBytes + exportBytes);
      const { user } = callerOf(request);
      const device = await devices.find(user, request.params.deviceId);
      const asked = exports.ask(user, device, request.query);
      const type = `${exportFormats[asked.format]}; charset=utf-8`;
      reply.header("content-disposition", `attachment; filename="${asked.fileName}"`);
      if (request.method === "HEAD") return reply.type(type).send();
      return sendPieces(request, reply, type, { ...(await exports.open(device, asked)), tail: "" }, log);
    },
  );
}
