import "./augment.ts";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyInstance, type FastifyServerFactory } from "fastify";
import { createCommandRunner } from "../domain/command-runner.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { TlsOptions } from "../ports/certificate.ts";
import type { CommandRunner } from "../ports/command-runner.ts";
import type { HttpLimits } from "./limits.ts";
import { fixedLimits } from "./limits.ts";
import { answerConnectionErrors } from "./plugins/connection-errors.ts";
import { shareConnections } from "./plugins/connections.ts";
import { builtConsole, consoleRoutes } from "./plugins/console.ts";
import { collectDocumentation, type Documentation, documentationRoutes } from "./plugins/documentation.ts";
import { answerFailure, answerFailures } from "./plugins/failures.ts";
import { createGate, type Gate } from "./plugins/gate.ts";
import { sendJoinedPieces } from "./plugins/joined.ts";
import { parseJsonOnly } from "./plugins/json.ts";
import { requestIds } from "./plugins/request-ids.ts";
import { createMeasure, type Measure, wrapRoutes } from "./plugins/routes.ts";
import { closeUnread, countUnread } from "./plugins/unread.ts";
import { accountRoute } from "./routes/account.ts";
import { accountAlertsRoutes } from "./routes/account-alerts.ts";
import { accountsRoutes } from "./routes/accounts.ts";
import { alertRulesRoutes } from "./routes/alert-rules.ts";
import { alertsRoute } from "./routes/alerts.ts";
import { apiKeyRoutes } from "./routes/api-key.ts";
import { commandRoutes } from "./routes/commands.ts";
import { deviceRoutes } from "./routes/device.ts";
import { deviceRulesRoutes } from "./routes/device-rules.ts";
import { devicesRoutes } from "./routes/devices.ts";
import { evidenceRoutes } from "./routes/evidence.ts";
import { exportRoute } from "./routes/export.ts";
import { geofencesRoutes } from "./routes/geofences.ts";
import { groupRoutes } from "./routes/group.ts";
import { groupsRoutes } from "./routes/groups.ts";
import { lastLocationRoute } from "./routes/last-location.ts";
import { limitsRoutes } from "./routes/limits.ts";
import { listingsRoutes } from "./routes/listings.ts";
import { locationsRoute, readingsRoute } from "./routes/locations.ts";
import { mutesRoutes } from "./routes/mutes.ts";
import { notificationsRoutes } from "./routes/notifications.ts";
import { oldPositionsRoutes } from "./routes/old-positions.ts";
import { operationRoutes } from "./routes/operation.ts";
import { recipientPage } from "./routes/recipient-page.ts";
import { recipientsRoutes } from "./routes/recipients.ts";
import { secondFactorRoutes } from "./routes/second-factor.ts";
import { sessionRoutes } from "./routes/session.ts";
import { sharedRoutes } from "./routes/shared.ts";
import { sharesRoutes } from "./routes/shares.ts";
import { streamRoute } from "./routes/stream.ts";
import { tokenRoute } from "./routes/token.ts";
import { trialRoute } from "./routes/trial.ts";
import { tripRoutes } from "./routes/trips.ts";
import { userRoutes } from "./routes/user.ts";
import { usersRoutes } from "./routes/users.ts";
import { serializersAtFirstUse } from "./serializer.ts";
import { createServices, type HttpDeps, type Services } from "./services.ts";
import { SignInLimits } from "./sign-in-limits.ts";
import { inputValidator } from "./validator.ts";

/** Where the HTTP side listens, and its limits. */
export interface HttpOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /**
   * Whose X-Forwarded-For is believed: addresses, networks, `loopback`, `linklocal`, `uniquelocal`, with commas
   * between; empty: nobody's.
   */
  readonly trustProxy: string;
  readonly limits: HttpLimits;
  /** Folder of the built console; where it has none, there is no console. Unset: where the build leaves it. */
  readonly consoleFolder?: string | undefined;
  /**
   * Address of a style for the console's map, and origins that it needs beside its own; unset: the console brings its
   * map.
   */
  readonly mapStyle?: string;
  readonly mapOrigins?: string;
  /** Absent: plain HTTP. */
  readonly tls?: TlsOptions | undefined;
}

/** The HTTP side of the service. */
export interface HttpServer {
  /** Listens from now on; gives the port. */
  start(): Promise<{ readonly port: number }>;
  /** Takes no more connections, lets answers under way end for some seconds, and stores the usage counters. */
  stop(): Promise<void>;
  /** Sends the commands of rules, as users do by the API. */
  readonly commandRunner: CommandRunner;
  /** Sends a request without a socket: for tests. */
  readonly inject: FastifyInstance["inject"];
  /** The OpenAPI document. */
  openApi(): Promise<object>;
}

/** Builds the HTTP side over its ports. Nothing listens before `start`. */
export async function createHttp(options: HttpOptions, deps: HttpDeps): Promise<HttpServer> {
  const services = await createServices(options.limits, deps);
  const { app, documentation } = await buildApp(services, options);
  services.commands.start();
  return {
    async start() {
      // By the name alone Fastify opens further servers, one for each address, which no limit of connections would
      // know.
      const host = options.host === "localhost" ? "127.0.0.1" : options.host;
      await app.listen({ host, port: options.port });
      services.usage.start();
      services.ruleHealth.start();
      const address = app.server.address();
      return { port: typeof address === "object" && address !== null ? address.port : options.port };
    },
    async stop() {
      services.streams.stop();
      const timer = setTimeout(() => app.server.closeAllConnections(), fixedLimits.closeGraceMs);
      await app.close();
      clearTimeout(timer);
      await services.recipients.stop();
      await services.commands.stop();
      await services.ruleHealth.stop();
      await services.usage.stop();
    },
    commandRunner: createCommandRunner(services),
    inject: app.inject.bind(app),
    openApi: documentation.document,
  };
}

async function buildApp(
  services: Services,
  { trustProxy, tls, consoleFolder = builtConsole, mapStyle = "", mapOrigins = "" }: HttpOptions,
): Promise<{ readonly app: FastifyInstance; readonly documentation: Documentation }> {
  const gate = createGate(services, tls !== undefined);
  const measure = createMeasure(services);
  const app = newFastify(services, gate, measure, trustProxy, await serverOf(services.limits, tls));
  app.decorateRequest("caller", null);
  app.decorateRequest("held", null);
  app.decorateRequest("openAnswer", null);
  app.decorateRequest("startedAt", 0);
  sendJoinedPieces(app, measure, services.answers);
  app.setValidatorCompiler(inputValidator());
  parseJsonOnly(app, services.largeTurns);
  answerFailures(app, services.log);
  closeUnread(app.server, services.limits.answers.unreadSeconds * 1000);
  answerConnectionErrors(app.server, shareConnections(app.server, services.limits, trustProxy, services.metrics));
  const documentation = collectDocumentation(app);
  countUnread(app, services.answers);
  wrapRoutes(app, gate, measure, services.limits.timeoutSeconds * 1000);
  registerRoutes(app, services);
  documentationRoutes(app, documentation);
  const answerUnknown = consoleRoutes(app, { folder: consoleFolder, mapStyle, mapOrigins });
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    // Before its body is read: on a path that is none, nothing is wrong with what was sent.
    gate.recognise(request, reply).then(() => {
      measure(request.method, "unknown", 404, request.startedAt);
      if (!answerUnknown(request, reply)) done(new ApiError("notFound"));
    }, done);
  });
  await app.ready();
  return { app, documentation };
}

/** What Node's server is told beside what Fastify tells it. */
function nodeOptions(limits: HttpLimits) {
  return {
    headersTimeout: Math.min(fixedLimits.headersTimeoutMs, limits.timeoutSeconds * 1000),
    connectionsCheckingInterval: fixedLimits.checkConnectionsMs,
    // Without Host the request is answered like any other, in the envelope.
    requireHostHeader: false,
  };
}

/** The server: Fastify's own, or one that speaks TLS, which is loaded only then. */
async function serverOf(limits: HttpLimits, tls: TlsOptions | undefined): Promise<ServerParts> {
  if (tls === undefined) return { http: nodeOptions(limits) };
  const { secureServerFactory } = await import("./secure-server.ts");
  const times = {
    keepAlive: fixedLimits.keepAliveMs,
    request: limits.timeoutSeconds * 1000,
  };
  return { serverFactory: secureServerFactory(tls, nodeOptions(limits), times) };
}

type ServerParts = { readonly http: ReturnType<typeof nodeOptions> } | { readonly serverFactory: FastifyServerFactory };

function newFastify(
  { limits, log, ids }: Services,
  gate: Gate,
  measure: Measure,
  trustProxy: string,
  server: ServerParts,
): FastifyInstance {
  return Fastify({
    ...server,
    trustProxy: trustProxy === "" ? false : trustProxy,
    bodyLimit: limits.bodyLimit,
    requestTimeout: limits.timeoutSeconds * 1000,
    keepAliveTimeout: fixedLimits.keepAliveMs,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    exposeHeadRoutes: true,
    schemaController: { compilersFactory: { buildSerializer: serializersAtFirstUse } },
    routerOptions: { caseSensitive: false, ignoreTrailingSlash: true, maxParamLength: fixedLimits.parameterLength },
    genReqId: requestIds(ids),
    // A path that can't be decoded reaches no route.
    frameworkErrors: (failure, request, reply) => {
      gate.recognise(request, reply).then(
        () => {
          answerFailure(failure, request, reply, log);
          measure(request.method, "unknown", reply.statusCode, request.startedAt);
        },
        (refusal: unknown) => answerFailure(refusal, request, reply, log),
      );
    },
  });
}

function registerRoutes(instance: FastifyInstance, services: Services): void {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();
  tokenRoute(app, services);
  const tries = new SignInLimits(services.limits.sessions, services);
  sessionRoutes(app, services, tries);
  secondFactorRoutes(app, services, tries);
  accountRoute(app, services);
  accountAlertsRoutes(app, instance, services);
  oldPositionsRoutes(app, services);
  accountsRoutes(app, instance, services);
  usersRoutes(app, instance, services);
  userRoutes(app, services);
  apiKeyRoutes(app, services);
  listingsRoutes(app, services);
  groupsRoutes(app, instance, services);
  groupRoutes(app, services);
  devicesRoutes(app, instance, services);
  deviceRoutes(app, services);
  limitsRoutes(app, services);
  commandRoutes(app, instance, services);
  lastLocationRoute(instance, services);
  locationsRoute(instance, services);
  readingsRoute(instance, services);
  tripRoutes(instance, services);
  exportRoute(instance, services);
  sharesRoutes(app, instance, services);
  sharedRoutes(instance, services);
  alertsRoute(instance, services);
  streamRoute(instance, services);
  geofencesRoutes(app, instance, services);
  alertRulesRoutes(app, instance, services);
  deviceRulesRoutes(app, instance, services);
  mutesRoutes(app, instance, services);
  notificationsRoutes(app, instance, services);
  recipientsRoutes(app, instance, services);
  recipientPage(instance);
  trialRoute(instance, services);
  evidenceRoutes(app, instance, services);
  operationRoutes(instance, services);
}
