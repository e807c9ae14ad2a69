import type { LookupAddress } from "node:dns";
import type { IncomingMessage, RequestOptions } from "node:http";
import { addressOfHost, isMetadataAddress, isPublicAddress } from "./address.ts";
import { createResolve, type NameOptions, type Resolve } from "./names.ts";

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
export interface OutboundOptions extends NameOptions {
  /** Whether private and loopback addresses may be called. The metadata services of clouds never are. */
  readonly allowPrivate: boolean;
  /** From the start to the end of the answer, ms. */
  readonly timeoutMs: number;
  /** Octets of an answer's body that are read; the rest is not waited for. */
  readonly mostAnswer: number;
  /** Finds the addresses of a host's name. Unset: `createResolve` does. */
  readonly resolve?: Resolve;
}

/**
 * What became of a call. `answered`: status and headers came; `whole` is false where the body was too long, too slow or
 * broke off · `forbidden`: the target's address may not be called; nothing was connected · `unreachable`: no byte of
 * the request was sent · `unanswered`: it was sent, at least in part, and no answer came. Redirects are answers: they
 * are never followed. `reason` is one of a few phrases, fit for whoever configured the address; `detail` is what the
 * system said, with the peer's address perhaps: for the log only.
 */
export type Outbound =
  | {
      readonly outcome: "answered";
      readonly status: number;
      readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly body: Buffer;
      readonly whole: boolean;
    }
  | NotAnswered;

/** A call that got no answer. */
export interface NotAnswered {
  readonly outcome: "forbidden" | "unreachable" | "unanswered";
  readonly reason: string;
  readonly detail: string;
}

const privateReason = "its address is private, which the configuration does not allow";
const metadataReason = "its address is for the metadata service of a cloud, which is never called";

/** The reason for which look-ups are aborted. Without one, Node.js would make an error with a stack for each. */
const callEnded = new Error("the call has ended");

/**
 * Makes calls within the bounds. The address is judged where the connection is made, after the name is resolved, so
 * that neither DNS nor a redirect leads into the operator's own network. Each call has a connection of its own.
 */
export function createOutbound(options: OutboundOptions): (call: OutboundCall) => Promise<Outbound> {
  const resolve = options.resolve ?? createResolve(options);
  return (call) => {
    const why = refusalOfUrl(call.url, options);
    if (why !== undefined) return Promise.resolve(forbidden(why, call.url.hostname));
    const ended = new AbortController();
    return run(call, options, guardedLookup(resolve, options, ended.signal)).finally(() => ended.abort(callEnded));
  };
}

/**
 * Why a URL may not be called, whatever its host leads to: the host is an address that is forbidden. Undefined: it may,
 * or the host is a name.
 */
export function refusalOfUrl({ hostname }: URL, options: Pick<OutboundOptions, "allowPrivate">): string | undefined {
  const address = addressOfHost(hostname);
  return address === undefined ? undefined : refusalOf(address, options);
}

/** Why an address may not be called; undefined: it may. */
function refusalOf(address: string, { allowPrivate }: Pick<OutboundOptions, "allowPrivate">): string | undefined {
  if (!allowPrivate && !isPublicAddress(address)) return privateReason;
  return isMetadataAddress(address) ? metadataReason : undefined;
}

function forbidden(reason: string, detail: string): NotAnswered {
  return { outcome: "forbidden", reason, detail };
}

/** An address that may not be called, as an error that goes through the runtime. */
class Forbidden extends Error {
  override readonly name = "Forbidden";
  readonly reason: string;

  constructor(reason: string, addresses: readonly LookupAddress[]) {
    super(addresses.map(({ address }) => address).join(", "));
    this.reason = reason;
  }
}

type Lookup = NonNullable<RequestOptions["lookup"]>;

/**
 * Gives only addresses that may be called; an error where there is none. The connection is made to these and to no
 * others.
 */
function guardedLookup(resolve: Resolve, options: OutboundOptions, ended: AbortSignal): Lookup {
  return (host, { all }, done) => {
    const judge: Parameters<Resolve>[1] = (error, addresses) => {
      const reasons = addresses.map(({ address }) => refusalOf(address, options));
      const usable = addresses.filter((_, index) => reasons[index] === undefined);
      const [first] = usable;
      if (error !== null) done(error, []);
      else if (first === undefined) done(new Forbidden(reasons[0] ?? privateReason, addresses), []);
      else if (all) done(null, [...usable]);
      else done(null, first.address, first.family);
    };
    resolve(host, judge, ended);
  };
}

/**
 * What comes on any connection is read into this, and copied from it at once. By itself the runtime reads 65,536 octets
 * at a time, each time into new memory: 2,000 calls whose peers answer without end made nine full collections of
 * garbage so, and make two with this.
 */
const received = Buffer.alloc(4096);

function run(call: OutboundCall, { timeoutMs, mostAnswer }: OutboundOptions, guard: Lookup): Promise<Outbound> {
  const secure = call.url.protocol === "https:";
  // `import` of node:http makes Node load fetch and web sockets too. At the top of the file that slowed each start;
  // here it blocked the event loop for 100 ms at the first call.
  const { request: begin } = secure ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  return new Promise((resolve) => {
    const take = (length: number) => request.socket?.push(Buffer.from(received.subarray(0, length))) ?? false;
    const onread = { buffer: received, callback: take };
    const options = { method: call.method, headers: withLength(call), lookup: guard, agent: false, onread };
    const request = begin(call.url, options);
    let sent = false;
    let answer: Answer | undefined;
    const settle = (error: Error) => {
      clearTimeout(timer);
      resolve(answer?.result() ?? failure(error, sent));
      request.destroy();
    };
    const timer = setTimeout(() => settle(new TimeUp(`no answer in ${timeoutMs} ms`)), timeoutMs);
    request.on("socket", (socket) => {
      socket.once(secure ? "secureConnect" : "connect", () => {
        sent = true;
      });
    });
    request.on("error", settle);
    request.on("response", (response) => {
      answer = new Answer(response, mostAnswer, () => settle(new Error("the answer came")));
    });
    request.end(call.body);
  });
}

/** The length of a body is told, so that it does not go out in chunks. */
function withLength({ headers, body }: OutboundCall): Record<string, string> {
  return body === undefined ? { ...headers } : { ...headers, "content-length": String(Buffer.byteLength(body)) };
}

class TimeUp extends Error {
  override readonly name = "TimeUp";
}

function failure(error: Error, sent: boolean): NotAnswered {
  if (error instanceof Forbidden) return forbidden(error.reason, error.message);
  const code = "code" in error ? String(error.code) : "";
  const detail = error.message.startsWith(code) ? error.message : `${code}: ${error.message}`;
  return { outcome: sent ? "unanswered" : "unreachable", reason: categoryOf(error, code), detail };
}

const categories: Readonly<Record<string, string>> = {
  ENOTFOUND: "unknown name",
  EAI_AGAIN: "unknown name",
  ENODATA: "unknown name",
  ECONNREFUSED: "refused",
  ETIMEOUT: "timeout",
  ETIMEDOUT: "timeout",
  EHOSTUNREACH: "no way to it",
  ENETUNREACH: "no way to it",
  EADDRNOTAVAIL: "no way to it",
  EPROTO: "tls",
};

/** The kind of a failure: what the peer or the network said stays in the log. */
function categoryOf(error: Error, code: string): string {
  if (error instanceof TimeUp) return "timeout";
  // Where each of several addresses failed, the first one's failure stands for all.
  const [first] = error instanceof AggregateError ? error.errors : [];
  if (first instanceof Error) return categoryOf(first, "code" in first ? String(first.code) : "");
  const known = categories[code];
  if (known !== undefined) return known;
  if (
    /^(ERR_TLS|ERR_SSL|UNABLE_|SELF_SIGNED|DEPTH_ZERO|CERT_|CRL_|INVALID_(CA|PURPOSE)|HOSTNAME_|PATH_LENGTH)/.test(code)
  )
    return "tls";
  return code.startsWith("HPE_") ? "no HTTP" : "broken off";
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
