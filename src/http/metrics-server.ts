import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { hashApiKey, isBearer } from "../auth/api-key.ts";
import type { Log } from "../ports/log.ts";
import { alwaysHeaders, secretHeaders } from "./plugins/headers.ts";
import type { ShownMetrics } from "./services.ts";

/** Prometheus's text format. */
export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

/** Connections at a time: a few collectors, and people who look. */
const connections = 32;
/** Time for the whole of a request, ms: it has a head and nothing more. */
const requestMs = 10_000;

/** Where the metrics are shown, and to whom; as the settings `metrics`. */
interface MetricsSettings {
  readonly listen: string;
  readonly token: string;
}

/** What /metrics answers: nothing unless there is a token. */
export function shownMetrics(
  { token }: Pick<MetricsSettings, "token">,
  text: ShownMetrics["text"],
): ShownMetrics | undefined {
  return token === "" ? undefined : { text, tokenHash: hashApiKey(token) };
}

/** The metrics on an address of their own, where the configuration has one. */
export async function startOwnMetrics(
  settings: MetricsSettings,
  text: ShownMetrics["text"],
  log: Log,
): Promise<MetricsServer | undefined> {
  if (settings.listen === "") return undefined;
  const server = await startMetrics(settings.listen, shownMetrics(settings, text) ?? { text, tokenHash: undefined });
  log.info({ url: server.url }, "metrics");
  return server;
}

/** Whether who sent this `Authorization` header may see the metrics. */
export function maySee(header: string | undefined, { tokenHash }: ShownMetrics): boolean {
  return tokenHash === undefined || isBearer(header, tokenHash);
}

/** The metrics on an address of their own, `127.0.0.1:9464`. */
export interface MetricsServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Listens; rejects where the address can't be had. */
export async function startMetrics(listen: string, shown: ShownMetrics): Promise<MetricsServer> {
  const { createServer } = process.getBuiltinModule("node:http");
  const server = createServer({ requestTimeout: requestMs, headersTimeout: requestMs }, (request, response) => {
    answer(request, response, shown).catch(() => response.destroy());
  });
  server.maxConnections = connections;
  server.timeout = requestMs;
  const colon = listen.lastIndexOf(":");
  const host = listen.slice(0, colon);
  const port = await listening(server, host.replace(/^\[|\]$/g, ""), Number(listen.slice(colon + 1)));
  return {
    url: `http://${host}:${port}/metrics`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

async function answer(request: IncomingMessage, response: ServerResponse, shown: ShownMetrics): Promise<void> {
  for (const [name, value] of Object.entries({ ...alwaysHeaders, ...secretHeaders })) response.setHeader(name, value);
  const [path] = (request.url ?? "").split("?");
  const head = request.method === "HEAD";
  if (path !== "/metrics" || (request.method !== "GET" && !head)) return void response.writeHead(404).end();
  if (!maySee(request.headers.authorization, shown))
    return void response.writeHead(401, { "www-authenticate": "Bearer" }).end();
  const text = await shown.text();
  response.writeHead(200, { "content-type": metricsType, "content-length": Buffer.byteLength(text) });
  response.end(head ? undefined : text);
}
