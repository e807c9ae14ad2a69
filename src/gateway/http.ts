import { type HttpStatus, httpResponse, parseHttpRequest } from "../wire/http.ts";
import type { Exchange } from "./exchange.ts";

/** Seconds after which a phone should try again while the store can't be used. */
const retryAfterSeconds = 10;

const busy = (connection: string) =>
  new TextEncoder().encode(
    `HTTP/1.1 503 Service Unavailable\r\nRetry-After: ${retryAfterSeconds}\r\nContent-Length: 0\r\nConnection: ${connection}\r\n\r\n`,
  );

/** A response of the gateway's own, without a body. */
export function ownResponse(status: HttpStatus, keepAlive: boolean): Uint8Array {
  return status === 503 ? busy(keepAlive ? "keep-alive" : "close") : httpResponse(status, keepAlive);
}

/** What is answered where the data was not taken; undefined: the protocol's own replies, or 200 where it has none. */
export function statusOf(exchange: Exchange): HttpStatus | undefined {
  if (exchange.unavailable) return 503;
  if (exchange.refusal === "unknown") return 404;
  if (exchange.refusal === "expired" || exchange.refusal === "changed") return 403;
  // A protocol may say in its own words what is wrong with a message.
  if (exchange.failed) return exchange.replies === undefined ? 400 : undefined;
  return exchange.refusal === "notIdentified" ? 400 : undefined;
}

/** Whether a request is its connection's last. */
export function isLastRequest(request: Uint8Array): boolean {
  const parsed = parseHttpRequest(request);
  return "refused" in parsed || !parsed.keepAlive;
}
