import type { FastifyInstance } from "fastify";
import { StreamEvent, StreamHeaders, StreamQuery } from "../../contract/stream.ts";
import { type LiveKind, liveKinds } from "../../domain/live/changes.ts";
import type { LiveBox, Wanted } from "../../domain/live/scope.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import { call } from "../call.ts";
import { callerOf } from "../envelope.ts";
import { whoIsStillThere } from "../recognition.ts";
import type { Services } from "../services.ts";

const description = `Server-sent events. The stream begins with the present: a \`location\` event for each device that the user sees and the filters match, then \`live\`. With the id of the last event that a client had, the stream begins with what came since; if it can't, \`reset\` says so, and the present follows.

A client that reads slowly gets the newest state of each device, and not those before it. A comment comes every 15 seconds. The stream ends within a second when its user, key or session does.`;

/** GET /api/stream. */
export function streamRoute(app: FastifyInstance, services: Services): void {
  const { answers, live, streams } = services;
  const options = call({
    operationId: "stream",
    tag: "Devices",
    summary: "Follow devices, alerts and commands as they happen",
    description,
    permission: "see",
    input: { querystring: StreamQuery, headers: StreamHeaders },
    ok: { 200: { description: "Events.", content: { "text/event-stream": { schema: StreamEvent } } } },
    errors: ["deviceNotFound", "groupNotFound"],
  });
  app.get<{ Querystring: StreamQuery; Headers: { "last-event-id"?: string } }>(
    "/api/stream",
    { ...options, exposeHeadRoute: false },
    async (request, reply) => {
      const { user } = callerOf(request);
      const wanted = await wantedOf(services, user, request.query);
      const lastEventId = request.headers["last-event-id"] ?? request.query.lastEventId;
      answers.stillOpen(reply);
      const stream = await streams.open(reply.raw, user, () =>
        live.open({ user, wanted, lastEventId, authorize: () => whoIsStillThere(request, services) }),
      );
      answers.detach(reply);
      // A proxy that gathers what it passes on would hold events back.
      reply.header("content-type", "text/event-stream; charset=utf-8").header("x-accel-buffering", "no");
      return stream;
    },
  );
}

/**
 * What a query asks for. @throws ApiError `deviceNotFound`, `groupNotFound` where the user does not see what it names,
 * `badRequest`
 */
async function wantedOf({ devices, groups }: Services, user: User, query: StreamQuery): Promise<Wanted> {
  const { device, group, box, kind } = query;
  const ids = device?.split(",");
  const groupIds = group?.split(",");
  for (const id of ids ?? []) await devices.find(user, id);
  for (const id of groupIds ?? []) await groups.find(user, id);
  const kinds: readonly string[] = kind?.split(",") ?? liveKinds;
  return {
    kinds: new Set<LiveKind>(liveKinds.filter((one) => kinds.includes(one))),
    devices: ids && new Set(ids),
    groups: groupIds,
    box: box === undefined ? undefined : boxOf(box),
  };
}

function boxOf(text: string): LiveBox {
  const [west = 0, south = 0, east = 0, north = 0] = text.split(",").map(Number);
  const bad = (problem: string) => new ApiError("badRequest", [`querystring/box: ${problem}`]);
  if (Math.abs(west) > 180 || Math.abs(east) > 180) throw bad("longitudes must lie from -180 to 180");
  if (Math.abs(south) > 90 || Math.abs(north) > 90) throw bad("latitudes must lie from -90 to 90");
  if (south > north) throw bad("south must not be greater than north");
  return { west, south, east, north };
}
