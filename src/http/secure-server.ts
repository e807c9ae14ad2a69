import { createServer, type Server, type ServerOptions } from "node:https";
import type { FastifyServerFactory } from "fastify";
import type { TlsOptions } from "../ports/certificate.ts";

/** Times of the server that Fastify sets only on one that it makes itself, ms. */
export interface ServerTimes {
  readonly keepAlive: number;
  readonly request: number;
}

/** Time for a handshake, ms: a client's takes some round trips. */
const handshakeMs = 15_000;

/** Makes the server of Fastify, which follows its certificate. */
export function secureServerFactory(
  { certificate, minVersion }: TlsOptions,
  options: ServerOptions,
  times: ServerTimes,
): FastifyServerFactory {
  return (handler) => {
    const secure = { minVersion };
    // Who has ended its side still gets its answers, as over plain HTTP.
    const own = { handshakeTimeout: handshakeMs, requestTimeout: times.request, allowHalfOpen: true };
    const server: Server = createServer({ ...options, ...own, ...secure, ...certificate.pair }, handler);
    certificate.onChange((pair) => server.setSecureContext({ ...secure, ...pair }));
    server.keepAliveTimeout = times.keepAlive;
    return server;
  };
}
