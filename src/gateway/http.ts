import { detectProtocol } from "../wire/detect.ts";
import { type HttpStatus, httpResponse, parseHttpRequest, withFields } from "../wire/http.ts";
import type { AnyProtocol } from "../wire/protocol.ts";
import type { Cors } from "./cors.ts";
import type { Exchange } from "./exchange.ts";

/** When a phone should try again while the store can't be used, or its address was wrong too often, seconds. */
const tryLater = { "Retry-After": "10" };

/** A response of the gateway's own, without a body. */
function ownResponse(status: HttpStatus, keepAlive: boolean): Uint8Array {
  return httpResponse(status, keepAlive, "", status === 503 || status === 429 ? tryLater : {});
}

/** A response that is the connection's last. */
export function lastResponse(status: HttpStatus): Uint8Array {
  return ownResponse(status, false);
}

/** What is answered where the data was not taken; undefined: the protocol's own replies, or 200 where it has none. */
function statusOf(exchange: Exchange): HttpStatus | undefined {
  if (exchange.unavailable) return 503;
  if (exchange.refusal === "limited") return 429;
  // One answer for all of them: nobody is to find out which devices there are.
  if (exchange.refusal !== undefined && exchange.refusal !== "notIdentified") return 404;
  // A protocol may say in its own words what is wrong with a message.
  if (exchange.failed) return exchange.replies === undefined ? 400 : undefined;
  return exchange.refusal === "notIdentified" ? 400 : undefined;
}

/** The answers of one connection that speaks HTTP: its requests are taken one at a time. */
export class HttpResponder {
  #last = false;
  /** A request has begun and is not whole. */
  #begun = false;
  /** A known device has sent a request. */
  known = false;
  readonly #protocols: readonly AnyProtocol[];
  readonly #cors: Cors;
  /** Fields of the present answer for the browser that asked; undefined: none. */
  #fields: Readonly<Record<string, string>> | undefined;

  constructor(protocols: readonly AnyProtocol[], cors: Cors) {
    this.#protocols = protocols;
    this.#cors = cors;
  }

  /** Why the connection is closed when its time is over. */
  get overdue(): "notIdentified" | "slow" | "idle" {
    if (!this.known) return "notIdentified";
    return this.#begun ? "slow" : "idle";
  }

  /** Bytes of a request wait for the rest of it. True for the first of them. */
  begins(): boolean {
    const first = !this.#begun;
    this.#begun = true;
    return first;
  }

  /** Whether the peer wants the connection closed after the present answer. */
  get last(): boolean {
    return this.#last;
  }

  /** This request is whole, and taken next: the protocol that it speaks, or the answer where none is to read it. */
  begin(request: Uint8Array): AnyProtocol | Uint8Array {
    this.#begun = false;
    const parsed = parseHttpRequest(request);
    this.#last = "refused" in parsed || !parsed.keepAlive;
    this.#fields = "refused" in parsed ? undefined : this.#cors.fields(parsed);
    const preflight = "refused" in parsed ? undefined : this.#cors.preflight(parsed);
    if (preflight !== undefined) return preflight;
    const found = detectProtocol(this.#protocols, request, "http", true);
    if (typeof found === "object") return found;
    this.#last = true;
    return lastResponse(404);
  }

  /** What the present request is answered. */
  responses(exchange: Exchange): readonly Uint8Array[] {
    const status = statusOf(exchange);
    const replies =
      status === undefined && exchange.replies !== undefined
        ? exchange.replies
        : [ownResponse(status ?? 200, !this.#last)];
    const fields = this.#fields;
    return fields === undefined ? replies : replies.map((reply) => withFields(reply, fields));
  }
}
