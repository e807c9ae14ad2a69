import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { ApiError } from "../../errors/catalogue.ts";
import { maySee, metricsType } from "../metrics-server.ts";
import type { Services } from "../services.ts";

const config = { permission: "public" } as const;
const tags = ["Operation"];

const Ready = Type.Object({ ready: Type.Boolean(), checks: Type.Record(Type.String(), Type.String()) });

/**
 * What is not part of the API: health for load balancers, metrics for Prometheus, where they are to be on this port. No
 * user's token: they say nothing of any account.
 */
export function operationRoutes(app: FastifyInstance, { readiness, shownMetrics }: Services): void {
  app.get(
    "/health/live",
    {
      config,
      exposeHeadRoute: true,
      schema: {
        operationId: "live",
        tags,
        summary: "Whether the process answers at all",
        response: { 200: Type.Object({ live: Type.Literal(true) }, { description: "It does." }) },
      },
    },
    () => Promise.resolve({ live: true }),
  );

  app.get(
    "/health/ready",
    {
      config,
      exposeHeadRoute: true,
      schema: {
        operationId: "ready",
        tags,
        summary: "Whether the service can do its work now",
        response: {
          200: {
            ...Ready,
            description:
              "It can. `clock` says `slow` or `fast` where most trackers contradict the service's own clock.",
          },
          503: { ...Ready, description: "It can't; which check failed." },
        },
      },
    },
    async (_request, reply) => {
      const result = await readiness();
      return reply.code(result.ready ? 200 : 503).send({ ready: result.ready, checks: result.checks });
    },
  );

  if (shownMetrics !== undefined)
    app.get("/metrics", { config, schema: { hide: true } }, async (request, reply) => {
      if (!maySee(request.headers.authorization, shownMetrics)) throw new ApiError("invalidToken");
      return reply.type(metricsType).send(await shownMetrics.text());
    });
}
