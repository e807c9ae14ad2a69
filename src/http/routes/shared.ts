import type { FastifyInstance, FastifyRequest } from "fastify";
import { SharedAnswer, SharedEvent } from "../../contract/share.ts";
import { StreamHeaders } from "../../contract/stream.ts";
import { formatInstant } from "../../contract/time.ts";
import { type HeldShare, sharedWanted } from "../../domain/shared-places.ts";
import { ApiError } from "../../errors/catalogue.ts";
import type { User } from "../../model/account.ts";
import { historyBytes } from "../answers.ts";
import { call } from "../call.ts";
import { serviceAnswer } from "../envelope.ts";
import type { Services } from "../services.ts";
import { shareOfRequest, usesOf } from "../shared-link.ts";

/** GET /api/shared and /api/shared/stream: what the holder of a link sees. */
export function sharedRoutes(app: FastifyInstance, services: Services): void {
  placesRoute(app, services);
  streamRoute(app, services);
}

function placesRoute(app: FastifyInstance, { answers, sharedPlaces }: Services): void {
  app.get(
    "/api/shared",
    call({
      operationId: "readShared",
      tag: "Devices",
      summary: "See what a link shows",
      description:
        "The link's token is the bearer. Links that were ended, are over, or never were, have the same answer.",
      permission: "shared",
      // A group may have 10,000 devices.
      record: true,
      input: {},
      ok: { 200: SharedAnswer },
    }),
    async (request, reply) => {
      answers.hold(reply, historyBytes);
      const held = heldBy(request);
      const devices = await sharedPlaces.devices(held);
      const { name, expires } = held.share;
      return serviceAnswer(null, { name, expires: formatInstant(expires), devices });
    },
  );
}

function streamRoute(app: FastifyInstance, services: Services): void {
  const { answers, live, streams, sharedPlaces } = services;
  const options = call({
    operationId: "streamShared",
    tag: "Devices",
    summary: "Follow what a link shows",
    description:
      "Server-sent events, as of GET /api/stream. It begins with the present and ends within a second when the link does.",
    permission: "shared",
    input: { headers: StreamHeaders },
    ok: { 200: { description: "Events.", content: { "text/event-stream": { schema: SharedEvent } } } },
  });
  app.get<{ Headers: { "last-event-id"?: string } }>(
    "/api/shared/stream",
    { ...options, exposeHeadRoute: false },
    async (request, reply) => {
      const { share, user } = heldBy(request);
      answers.stillOpen(reply);
      const authorize = async () => (await shareOfRequest(request, services))?.user ?? new ApiError("linkNotValid");
      const scopeOf = (maker: User) => sharedPlaces.scope({ share, user: maker });
      const wish = { user, wanted: sharedWanted, scopeOf, lastEventId: request.headers["last-event-id"], authorize };
      const stream = await streams.open(reply.raw, { ...user, ...usesOf(share) }, () =>
        live.open({ ...wish, shown: sharedPlaces.shown(share) }),
      );
      answers.detach(reply);
      // A proxy that gathers what it passes on would hold events back.
      reply.header("content-type", "text/event-stream; charset=utf-8").header("x-accel-buffering", "no");
      return stream;
    },
  );
}

/** The link that brought this request. Only for routes with the permission `shared`: the gate has let it in. */
function heldBy({ held }: FastifyRequest): HeldShare {
  if (held === null) throw new ApiError("linkNotValid");
  return held;
}
