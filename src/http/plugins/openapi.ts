import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import Fastify, { type FastifyInstance, type FastifySchema, type RouteOptions } from "fastify";
import { version } from "../../model/version.ts";
import { nameMark, pascal, withComponents } from "./components.ts";
import { documented, lists } from "./documented.ts";
import { withExamples } from "./examples.ts";
import { nameOf } from "./schema-names.ts";
import { sharedSchemas } from "./shared-schemas.ts";

const description = `Device tracking: tokens, devices, positions.

Every JSON answer carries \`success\`, \`error\` and, for a known user, \`apiUsage\` and \`apiDailyUsage\`. On failure \`error\` holds one of the texts below,
and \`details\` may say what is wrong and where. Times are RFC 3339, in answers UTC with milliseconds; a time without offset is UTC. Paths match without regard
to case, field names do not; HEAD answers where GET does. Texts with half of a surrogate pair, and the names \`__proto__\` and \`constructor.prototype\`, are refused everywhere;
fields that a body's schema does not name are ignored. Answers carry \`X-Request-Id\`, those to a user \`RateLimit\`; 429 and 503 carry \`Retry-After\`.`;

/** What the document tells of a route. */
export type DocumentedRoute = Pick<RouteOptions, "method" | "url" | "schema">;

/**
 * A server that never listens: it has the routes by name only, makes the OpenAPI 3.1 document of their schemas, and
 * answers for the page at `/docs`.
 */
export async function documentationOf(routes: readonly DocumentedRoute[]): Promise<FastifyInstance> {
  const app = Fastify({ exposeHeadRoutes: false, routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await publishOpenApi(app);
  await showDocs(app);
  for (const { method, url, schema = {} } of routes)
    app.route({ method, url, schema: documented(named(schema)), handler: () => Promise.resolve(undefined) });
  await app.ready();
  return app;
}

/** A route's schema, in which each body, answer and parameter has the name that it gets in the document. */
function named(schema: FastifySchema): FastifySchema {
  const { params, querystring, headers, body, response } = schema;
  return {
    ...schema,
    ...(params !== undefined && { params: namedFields(params) }),
    ...(querystring !== undefined && { querystring: namedFields(querystring) }),
    ...(headers !== undefined && { headers: namedFields(headers) }),
    ...(body !== undefined && { body: marked(body) }),
    ...(isRecord(response) && {
      response: Object.fromEntries(Object.entries(response).map(([code, answer]) => [code, marked(answer)])),
    }),
  };
}

function marked(schema: unknown): unknown {
  const name = nameOf(schema);
  if (name !== undefined && isRecord(schema)) return { ...schema, [nameMark]: name };
  if (!isRecord(schema) || !isRecord(schema.content)) return schema;
  const content = Object.entries(schema.content).map(([type, media]) => [
    type,
    isRecord(media) ? { ...media, schema: marked(media.schema) } : media,
  ]);
  return { ...schema, content: Object.fromEntries(content) };
}

function namedFields(schema: unknown): unknown {
  if (!isRecord(schema) || !isRecord(schema.properties)) return schema;
  const owner = nameOf(schema) ?? "";
  const fields = Object.entries(schema.properties).map(([name, field]) => [
    name,
    isRecord(field) ? { ...field, [nameMark]: `${owner}${pascal(name)}` } : field,
  ]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The OpenAPI document of the routes that are registered after this. */
async function publishOpenApi(app: FastifyInstance): Promise<void> {
  for (const schema of [...sharedSchemas.map(documented), ...lists()]) app.addSchema(schema);
  await app.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: {
        title: "Waybeam",
        version,
        description,
        license: { name: "Apache 2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/", description: "The service that gives this document." }],
      components: {
        securitySchemes: {
          bearer: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: "Token of POST /api/Auth/Token.",
          },
          cookie: {
            type: "apiKey",
            in: "cookie",
            name: "waybeam",
            description:
              "Session of a person, from POST /api/session. By HTTPS its name is `__Host-waybeam`. Requests that are no GET need the header `X-CSRF` with the `csrf` of GET /api/session, and are refused from pages of other sites. A request with an `Authorization` header is judged by that alone.",
          },
          link: {
            type: "http",
            scheme: "bearer",
            description:
              "Token of a link, from POST /api/shares, whose holders have no user; such answers have no counters.",
          },
          operator: {
            type: "http",
            scheme: "bearer",
            description: "Key of the service's operator, who has no user; such answers have no counters.",
          },
        },
      },
      tags: [
        { name: "Authentication", description: "Tokens for API keys, and sessions of people." },
        {
          name: "Devices",
          description: "Devices, their positions, commands and limits, and how their trackers report.",
        },
        { name: "Alerts", description: "Rules that watch devices, zones, and who was told." },
        { name: "Groups", description: "Groups of devices, by which users see devices and rules watch them." },
        { name: "Users", description: "The people and programs of an account, their rights and their API keys." },
        { name: "Account", description: "What an account may use and uses, and its old positions." },
        { name: "Operation", description: "For those who run the service." },
      ],
    },
    transformObject: (made) => withExamples(withComponents("openapiObject" in made ? { ...made.openapiObject } : {})),
    refResolver: { buildLocalReference: (json, _base, _fragment, index) => String(json.$id ?? `schema${index}`) },
  });
}

/**
 * What the page may load: what this server gives, and no other host. Not `upgrade-insecure-requests`: the service
 * itself speaks plain http, and a browser would ask for the page's own scripts by https wherever it is not opened as
 * localhost.
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

/** A place on a map, and the waves that it sends. */
const icon = {
  filename: "waybeam.svg",
  rel: "icon",
  sizes: "any",
  type: "image/svg+xml",
  content: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32">
<g fill="none" stroke="#38bdf8" stroke-width="2.5" stroke-linecap="round">
<circle cx="16" cy="16" r="3.5" fill="#38bdf8"/>
<path d="M9.5 9.5a9 9 0 0 0 0 13M22.5 9.5a9 9 0 0 1 0 13M5 5a15.5 15.5 0 0 0 0 22M27 5a15.5 15.5 0 0 1 0 22"/>
</g></svg>
`,
};

/** The page at /docs. Without `validatorUrl` it would send the document's address to a stranger's validator. */
async function showDocs(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: pagePolicy,
    uiConfig: { deepLinking: true, persistAuthorization: true, validatorUrl: null },
    theme: { title: "Waybeam API", favicon: [icon] },
    logo: { type: icon.type, content: Buffer.from(icon.content) },
  });
}
