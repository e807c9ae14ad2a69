import { type HttpStatus, httpResponse, parseHttpRequest } from "../wire/http.ts";
import type { Exchange } from "./exchange.ts";

/** When a phone should try again while the store can't be used: after so many seconds. */
const tryLater = { "Retry-After": "10" };

/** A response of the gateway's own, without a body. */
export function ownResponse(status: HttpStatus, keepAlive: boolean): Uint8Array {
  return httpResponse(status, keepAlive, "", status === 503 ? tryLater : {});
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
