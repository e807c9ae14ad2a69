import { type Framer, type Framing, frame, more, skip } from "./framing.ts";
import { type ChunksMark, joinChunks, maximumChunkOverhead, readChunks } from "./http-chunks.ts";
import { type Head, maximumBody, maximumHead, type Refused, readHead } from "./http-head.ts";
import { bytesOfLatin1 } from "./reader.ts";

/** One whole request. */
export interface HttpRequest {
  readonly method: string;
  /** As it was sent. */
  readonly target: string;
  /** Percent-decoded, without the query. */
  readonly path: string;
  /** Percent-decoded parameters of the query; a name may have several values. */
  readonly query: Parameters;
  /** Names in lower case; values of a repeated name are joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  /** What the sender put in, chunks joined. A view of the request where it was not chunked. */
  readonly body: Uint8Array;
  /** The sender means to send further requests on this connection (RFC 9112, 9.3). */
  readonly keepAlive: boolean;
}

/** Values by name, in the order in which they were sent. */
export type Parameters = ReadonlyMap<string, readonly string[]>;

/** Parameters of one query or form: a phone app sends about fifteen, a list of cells and access points some dozens. */
const maximumParameters = 256;

/**
 * Cuts a stream into whole HTTP/1.1 requests, head and body, by Content-Length or chunks. Blank lines before a request
 * belong to it and are left out. A skip is a request that is refused (malformed, ambiguous, beyond a limit): what
 * follows it can't be told from it, so it takes everything; answer 400 and close. However slowly a request comes, each
 * of its bytes is looked at a few times only. `Expect: 100-continue` needs nothing: such a sender goes on by itself
 * (RFC 9110, 10.1.1).
 */
export const httpFramer: Framer = {
  maximum: maximumHead + maximumBody + maximumChunkOverhead,
  next(buffer, offset, progress) {
    const start = afterBlankLines(buffer, offset);
    if (start === undefined) return skip(buffer.length - offset, "blank lines without end");
    if (progress instanceof OpenBody) return cutChunked(buffer, offset, start, progress);
    if (start >= buffer.length || (start === buffer.length - 1 && buffer[start] === 0x0d)) return more;
    const from = progress instanceof OpenHead ? Math.max(start, offset + progress.read) : start;
    const head = readHead(buffer, start, from);
    if (head === "more") return { type: "more", progress: new OpenHead(buffer.length - offset) };
    if ("refused" in head) return skip(buffer.length - offset, head.refused);
    if (head.body === "chunked") return cutChunked(buffer, offset, start, new OpenBody(head.end - offset));
    const end = head.end + (head.body === "none" ? 0 : head.body);
    return end > buffer.length ? { type: "more", length: end - offset } : frame(start, end);
  },
};

/** A head that is not whole: how many bytes from the offset on do not hold its end. */
class OpenHead {
  readonly read: number;
  constructor(read: number) {
    this.read = read;
  }
}

/** A chunked body that is not whole: how far from the offset it begins, and where its reading goes on. */
class OpenBody {
  readonly begin: number;
  readonly mark: ChunksMark | undefined;
  constructor(begin: number, mark?: ChunksMark) {
    this.begin = begin;
    this.mark = mark;
  }
}

function cutChunked(buffer: Uint8Array, offset: number, start: number, { begin, mark }: OpenBody): Framing {
  const chunks = readChunks(buffer, offset + begin, mark);
  if ("refused" in chunks) return skip(buffer.length - offset, chunks.refused);
  if ("end" in chunks) return frame(start, chunks.end);
  return { type: "more", length: begin + chunks.needed, progress: new OpenBody(begin, chunks) };
}

/** Blank lines that a client may put before a request (RFC 9112, 2.2): a few, not a flood. */
const maximumBlankBytes = 16;

function afterBlankLines(buffer: Uint8Array, offset: number): number | undefined {
  let at = offset;
  while (buffer[at] === 0x0d && buffer[at + 1] === 0x0a) at += 2;
  return at - offset > maximumBlankBytes ? undefined : at;
}

const methods: readonly Uint8Array[] = ["GET ", "POST ", "PUT ", "HEAD ", "PATCH ", "DELETE ", "OPTIONS "].map(
  bytesOfLatin1,
);

/** Whether a connection's first bytes are an HTTP method, so far ("maybe") or whole. */
export function startsHttp(bytes: Uint8Array): "no" | "maybe" | "sure" {
  for (const method of methods) {
    const length = Math.min(method.length, bytes.length);
    let index = 0;
    while (index < length && bytes[index] === method[index]) index++;
    if (index === length) return length === method.length ? "sure" : "maybe";
  }
  return "no";
}

/**
 * The request that was read last: detection, a protocol's `classify` and its handlers all read the same one in a row.
 */
let last: { readonly bytes: Uint8Array; readonly request: HttpRequest | Refused } | undefined;

/**
 * Reads one whole request, as `httpFramer` cuts it; the same array is read once in a row, since a message is never
 * changed. A request that names no length for its body is given what follows its head: the framer never lets anything
 * follow, but a request that was recorded by hand may have lost the field.
 */
export function parseHttpRequest(bytes: Uint8Array): HttpRequest | Refused {
  if (last?.bytes !== bytes) last = { bytes, request: readRequest(bytes) };
  return last.request;
}

function readRequest(bytes: Uint8Array): HttpRequest | Refused {
  const head = readHead(bytes, 0);
  if (head === "more") return { refused: "no whole head" };
  if ("refused" in head) return head;
  const body = bodyOf(bytes, head);
  if (!(body instanceof Uint8Array)) return body;
  const { method, target, headers } = head;
  const origin = originForm(target);
  const mark = origin.indexOf("?");
  const path = decodeComponent(mark < 0 ? origin : origin.slice(0, mark));
  const query = parseParameters(mark < 0 ? "" : origin.slice(mark + 1));
  if (path === undefined || query === undefined) return { refused: "malformed target" };
  return { method, target, path, query, headers, body, keepAlive: keepsAlive(head) };
}

function bodyOf(bytes: Uint8Array, head: Head): Uint8Array | Refused {
  if (head.body === "none") return bytes.subarray(head.end);
  if (head.body === "chunked") {
    const chunks = readChunks(bytes, head.end);
    if ("refused" in chunks) return chunks;
    return "end" in chunks ? joinChunks(bytes, chunks) : { refused: "body not whole" };
  }
  const end = head.end + head.body;
  return end > bytes.length ? { refused: "body not whole" } : bytes.subarray(head.end, end);
}

/** Path and query of a target; proxies send the absolute form `http://host/path` (RFC 9112, 3.2.2). */
function originForm(target: string): string {
  if (!/^https?:\/\//i.test(target)) return target.split("#", 1)[0] ?? "";
  const path = target.indexOf("/", target.indexOf("//") + 2);
  return path < 0 ? "/" : target.slice(path);
}

function keepsAlive({ headers, minor }: Head): boolean {
  const options = headers.get("connection");
  if (options === undefined) return minor === 1;
  const word = minor === 1 ? "close" : "keep-alive";
  const says = options.split(",").some((option) => option.trim().toLowerCase() === word);
  return minor === 1 ? !says : says;
}

/**
 * Parameters of a query string or a form (application/x-www-form-urlencoded), percent-decoded as UTF-8, `+` as a blank.
 * A name or a value whose percent signs or UTF-8 are malformed stands as it came, so that it spoils no other.
 * Undefined: there are too many.
 */
export function parseParameters(text: string): Parameters | undefined {
  const parameters = new Map<string, string[]>();
  if (text === "") return parameters;
  const pairs = text.split("&", maximumParameters + 1);
  if (pairs.length > maximumParameters) return undefined;
  for (const pair of pairs) {
    if (pair === "") continue;
    const split = pair.indexOf("=");
    const name = decodedOrRaw(split < 0 ? pair : pair.slice(0, split));
    const value = split < 0 ? "" : decodedOrRaw(pair.slice(split + 1));
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
  }
  return parameters;
}

function decodedOrRaw(text: string): string {
  return decodeComponent(text.includes("+") ? text.replaceAll("+", " ") : text) ?? text;
}

function decodeComponent(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A response with further fields, of the service's own making: nothing in them is escaped. */
export function withFields(response: Uint8Array, fields: Readonly<Record<string, string>>): Uint8Array {
  const added = bytesOfLatin1(
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(""),
  );
  const at = response.indexOf(0x0a) + 1;
  const whole = new Uint8Array(response.length + added.length);
  whole.set(response.subarray(0, at));
  whole.set(added, at);
  whole.set(response.subarray(at), at + added.length);
  return whole;
}

/** Reason phrases of the answers that trackers get. */
const reasons = {
  200: "OK",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  413: "Content Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
} as const;

/** A status that a tracker can be answered. */
export type HttpStatus = keyof typeof reasons;

/** Whether the sender says that the body is of this type (in lower case); parameters behind it do not count. */
export function hasContentType({ headers }: HttpRequest, type: string): boolean {
  return (headers.get("content-type") ?? "").toLowerCase().startsWith(type);
}

/**
 * A whole response. `body` is text, sent as UTF-8, plain unless `headers` has a Content-Type; `keepAlive` false tells
 * the client that the connection ends with it. `headers` are further ones, of the service's own making: nothing in them
 * is escaped.
 */
export function httpResponse(
  status: HttpStatus,
  keepAlive: boolean,
  body = "",
  headers: Readonly<Record<string, string>> = {},
): Uint8Array {
  const content = new TextEncoder().encode(body);
  const type = content.length === 0 || headers["Content-Type"] !== undefined ? "" : "Content-Type: text/plain\r\n";
  const further = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const connection = keepAlive ? "keep-alive" : "close";
  // RFC 9110, 8.6: a 204 has no Content-Length.
  const length = status === 204 ? "" : `Content-Length: ${content.length}\r\n`;
  const head = `HTTP/1.1 ${status} ${reasons[status]}\r\n${further.join("")}${type}${length}Connection: ${connection}\r\n\r\n`;
  const bytes = new Uint8Array(head.length + content.length);
  bytes.set(bytesOfLatin1(head));
  bytes.set(content, head.length);
  return bytes;
}
