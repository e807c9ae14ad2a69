import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import Fastify, { type FastifyInstance, type RouteOptions } from "fastify";
import { documented, lists } from "./documented.ts";
import { sharedSchemas } from "./shared-schemas.ts";

/** Version of the interface, not of the program: it grows with what clients must know. */
const apiVersion = "1.0.0";

const description = `Device tracking: tokens, devices, positions.

Every JSON answer carries \`success\`, \`error\` and, for a known user, \`apiUsage\` and \`apiDailyUsage\`. On failure \`error\` holds one of the texts below,
and \`details\` may say what is wrong and where. Times are RFC 3339, in answers UTC with milliseconds; a time without offset is UTC. Paths match without regard
to case, field names do not; HEAD answers where GET does. Texts with half of a surrogate pair, and the names \`__proto__\` and \`constructor.prototype\`, are refused everywhere;
fields that a body's schema does not name are ignored. Answers carry \`X-Request-Id\`, those to a user \`RateLimit\`; 429 and 503 carry \`Retry-After\`.`;

/** What the document tells of a route. */
export type DocumentedRoute = Pick<RouteOptions, "method" | "url" | "schema">;

/** A server that never listens: it has the routes by name only, makes the OpenAPI 3.1 document of their schemas, and answers for the page at `/docs`. */
export async function documentationOf(routes: readonly DocumentedRoute[]): Promise<FastifyInstance> {
  const app = Fastify({ exposeHeadRoutes: false, routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await publishOpenApi(app);
  await showDocs(app);
  for (const { method, url, schema = {} } of routes)
    app.route({ method, url, schema: documented(schema), handler: () => Promise.resolve(undefined) });
  await app.ready();
  return app;
}

/** The OpenAPI document of the routes that are registered after this. */
async function publishOpenApi(app: FastifyInstance): Promise<void> {
  for (const schema of [...sharedSchemas.map(documented), ...lists()]) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Waybeam", version: apiVersion, description },
      components: {
        securitySchemes: {
          bearer: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: "Token of POST /api/Auth/Token.",
          },
          operator: {
            type: "http",
            scheme: "bearer",
            description: "Key of the service's operator, who has no user; such answers have no counters.",
          },
        },
      },
      tags: [
        { name: "Authentication" },
        { name: "Devices" },
        { name: "Alerts", description: "Rules that watch devices, zones, and who was told." },
        { name: "Groups" },
        { name: "Users" },
        { name: "Account" },
        { name: "Operation", description: "For those who run the service." },
      ],
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema${index}`) },
  });
}

/**
 * What the page may load: what this server gives, and no other host. Not `upgrade-insecure-requests`: the service itself speaks plain http, and a
 * browser would ask for the page's own scripts by https wherever it is not opened as localhost.
 */
const pagePolicy = {
  "default-src": "'self'",
  "base-uri": "'self'",
  "form-action": "'self'",
  "frame-ancestors": "'none'",
  "img-src": "'self' data:",
  "object-src": "'none'",
  "script-src-attr": "'none'",
};

/** The page at /docs. Without `validatorUrl` it would send the document's address to a stranger's validator. */
async function showDocs(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: pagePolicy,
    uiConfig: { deepLinking: true, validatorUrl: null },
  });
}
