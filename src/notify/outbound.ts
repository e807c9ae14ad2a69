import { type LookupAddress, lookup } from "node:dns";
import type { IncomingMessage, RequestOptions } from "node:http";
import { addressOfHost, isPublicAddress } from "./address.ts";

/** A request to an address that someone configured: an SMS gateway's, a webhook's. */
export interface OutboundCall {
  readonly method: string;
  /** http or https; user information in it becomes basic authentication. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: none is sent. */
  readonly body: string | Uint8Array | undefined;
}

/** Bounds of every call. */
export interface OutboundOptions {
  /** Whether private and loopback addresses may be called. */
  readonly allowPrivate: boolean;
  /** From the start to the end of the answer, ms. */
  readonly timeoutMs: number;
  /** Octets of an answer's body that are read; the rest is not waited for. */
  readonly mostAnswer: number;
  /** Finds the addresses of a host's name; unless given, as the system does. */
  readonly resolve?: Resolve;
}

/** Finds the addresses of a host's name. */
export type Resolve = (
  host: string,
  found: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/**
 * What became of a call. `answered`: status and headers came; `whole` is false where the body was too long, too slow or broke off ·
 * `forbidden`: the target is not a public address; nothing was connected · `unreachable`: no byte of the request was sent ·
 * `unanswered`: it was sent, at least in part, and no answer came. Redirects are answers: they are never followed.
 */
export type Outbound =
  | {
      readonly outcome: "answered";
      readonly status: number;
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly body: Buffer;
      readonly whole: boolean;
    }
  | { readonly outcome: "forbidden" | "unreachable" | "unanswered"; readonly reason: string };

const privateTarget: Outbound = {
  outcome: "forbidden",
  reason: "its address is private, which the configuration does not allow",
};

/**
 * Makes calls within the bounds. The address is judged where the connection is made, after the name is resolved, so that neither DNS nor a
 * redirect leads into the operator's own network. Each call has a connection of its own.
 */
export function createOutbound(options: OutboundOptions): (call: OutboundCall) => Promise<Outbound> {
  const { allowPrivate } = options;
  const resolve = options.resolve ?? systemResolve;
  return (call) => {
    const address = addressOfHost(call.url.hostname);
    if (!allowPrivate && address !== undefined && !isPublicAddress(address)) return Promise.resolve(privateTarget);
    return run(call, options, guardedLookup(resolve, allowPrivate));
  };
}

/** A code of our own, for an error that goes through the runtime. */
const forbiddenCode = "EFORBIDDEN";

type Lookup = NonNullable<RequestOptions["lookup"]>;

/** Gives only addresses that may be called; an error where there is none. */
function guardedLookup(resolve: Resolve, allowPrivate: boolean): Lookup {
  return (host, { all }, done) =>
    resolve(host, (error, addresses) => {
      const usable = allowPrivate ? addresses : addresses.filter(({ address }) => isPublicAddress(address));
      const [first] = usable;
      if (error !== null) done(error, []);
      else if (first === undefined) done(Object.assign(new Error(forbiddenCode), { code: forbiddenCode }), []);
      else if (all) done(null, [...usable]);
      else done(null, first.address, first.family);
    });
}

function systemResolve(host: string, found: Parameters<Resolve>[1]): void {
  lookup(host, { all: true }, (error, addresses) => found(error, addresses ?? []));
}

async function run(call: OutboundCall, { timeoutMs, mostAnswer }: OutboundOptions, guard: Lookup): Promise<Outbound> {
  const secure = call.url.protocol === "https:";
  // Loaded for the first call: named in an import, node:http loads all that it ever loads (fetch, web sockets), which would delay each start.
  const { request: begin } = secure ? await import("node:https") : await import("node:http");
  return new Promise((resolve) => {
    const request = begin(call.url, {
      method: call.method,
      headers: withLength(call),
      lookup: guard,
      agent: false,
    });
    let sent = false;
    let answer: Answer | undefined;
    const settle = (code: string) => {
      clearTimeout(timer);
      resolve(answer?.result() ?? failure(code, sent));
      request.destroy();
    };
    const timer = setTimeout(() => settle("no answer in time"), timeoutMs);
    request.on("socket", (socket) => {
      socket.once(secure ? "secureConnect" : "connect", () => {
        sent = true;
      });
    });
    request.on("error", (error: NodeJS.ErrnoException) => settle(error.code ?? "it broke off"));
    request.on("response", (response) => {
      answer = new Answer(response, mostAnswer, () => settle(""));
    });
    request.end(call.body);
  });
}

/** The length of a body is told, so that it does not go out in chunks. */
function withLength({ headers, body }: OutboundCall): Record<string, string> {
  return body === undefined ? { ...headers } : { ...headers, "content-length": String(Buffer.byteLength(body)) };
}

function failure(code: string, sent: boolean): Outbound {
  if (code === forbiddenCode) return privateTarget;
  return { outcome: sent ? "unanswered" : "unreachable", reason: code };
}

/** An answer while its body comes. */
class Answer {
  readonly #response: IncomingMessage;
  readonly #chunks: Buffer[] = [];
  #length = 0;
  #whole = false;

  constructor(response: IncomingMessage, most: number, done: () => void) {
    this.#response = response;
    response.on("data", (chunk: Buffer) => {
      const room = most - this.#length;
      this.#chunks.push(chunk.subarray(0, room));
      this.#length += Math.min(chunk.length, room);
      if (chunk.length > room) done();
    });
    response.on("end", () => {
      this.#whole = response.complete;
      done();
    });
    response.on("error", done);
    response.on("close", done);
  }

  result(): Outbound {
    const { statusCode: status = 0, headers } = this.#response;
    return { outcome: "answered", status, headers, body: Buffer.concat(this.#chunks), whole: this.#whole };
  }
}
