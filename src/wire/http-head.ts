import { latin1Of } from "./reader.ts";

/**
 * Bytes of a request line and its headers: phone apps send under 1 KiB; a query string of cells and Wi-Fi access points
 * some more.
 */
export const maximumHead = 16 * 1024;
/**
 * Bytes of a body: a phone's backlog as JSON. Overland sends 200 locations of some 600 bytes by default, which is 120
 * KB, and users raise that number. The gateway bounds what all connections and one address may hold (`bufferedBytes`),
 * however long one body may be.
 */
export const maximumBody = 256 * 1024;
/** Header fields of one request: real clients send about ten. */
const maximumFields = 64;

const cr = 0x0d;
const lf = 0x0a;
const space = 0x20;
const colon = 0x3a;

/** How a request's body is delimited. */
export type BodyLength = number | "chunked" | "none";

/** A request's head: where it ends, and what its lines say. */
export interface Head {
  readonly method: string;
  readonly target: string;
  /** 0 for HTTP/1.0, 1 for HTTP/1.1. */
  readonly minor: 0 | 1;
  /** Names in lower case; the values of a repeated name are joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: BodyLength;
  /** Offset of the first byte after the head. */
  readonly end: number;
}

/**
 * Why a request is refused: its sender and a server behind another proxy could read it differently, or it breaks a
 * limit.
 */
export interface Refused {
  readonly refused: string;
}

/**
 * Reads the head that starts at `offset`. "more": it is not whole yet. `from`: the bytes before it were looked through
 * already, in vain. (RFC 9112)
 */
export function readHead(bytes: Uint8Array, offset: number, from: number = offset): Head | Refused | "more" {
  const end = headEnd(bytes, offset, from);
  if (typeof end !== "number") return end;
  const last = Math.max(offset, end - 4);
  if (hasControl(bytes, offset, last)) return { refused: "control character in the head" };
  const lines = latin1Of(bytes.subarray(offset, last)).split("\r\n", maximumFields + 2);
  return lines.length > maximumFields + 1 ? { refused: "too many header fields" } : headOf(lines, end);
}

/** Offset after the empty line that ends the head; makes nothing of the lines, so that it can go on from anywhere. */
function headEnd(bytes: Uint8Array, offset: number, from: number): number | Refused | "more" {
  for (let at = from; ; ) {
    const end = bytes.indexOf(lf, at);
    if ((end < 0 ? bytes.length : end) - offset >= maximumHead) return { refused: "head too long" };
    if (end < 0) return "more";
    // RFC 9112, 2.2: a bare line feed may be read as a line's end by one reader and as data by the next.
    if (end === offset || bytes[end - 1] !== cr) return { refused: "line without CR" };
    if (end - 1 === offset || bytes[end - 2] === lf) return end + 1;
    at = end + 1;
  }
}

/** Whether a control character stands between from and to that ends no line (a lone CR above all). */
function hasControl(bytes: Uint8Array, from: number, to: number): boolean {
  for (let index = from; index < to; index++) {
    const byte = bytes[index] ?? 0;
    if (byte >= space && byte !== 0x7f) continue;
    // Each LF has a CR in front of it: that was seen when the end was looked for.
    if (byte !== 0x09 && byte !== lf && (byte !== cr || bytes[index + 1] !== lf)) return true;
  }
  return false;
}

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const versionPattern = /^HTTP\/1\.[01]$/;

function headOf(lines: readonly string[], end: number): Head | Refused {
  const [method = "", target = "", version = "", ...rest] = (lines[0] ?? "").split(" ");
  if (rest.length > 0 || target === "" || !tokenPattern.test(method)) return { refused: "malformed request line" };
  if (!versionPattern.test(version)) return { refused: "not HTTP/1.1" };
  const headers = new Map<string, string>();
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const split = line.indexOf(":");
    const name = line.slice(0, split).toLowerCase();
    // A folded line, or a blank before the colon, hides a field from readers that do not know them (RFC 9112, 5.1 and
    // 5.2).
    if (line.charCodeAt(split) !== colon || !tokenPattern.test(name)) return { refused: "malformed header field" };
    const value = line.slice(split + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  const body = bodyLength(headers);
  if (typeof body === "object") return body;
  return { method, target, minor: version.endsWith("1") ? 1 : 0, headers, body, end };
}

/** RFC 9112, 6.3, without its leniencies: whatever two readers might take differently is refused. */
function bodyLength(headers: ReadonlyMap<string, string>): BodyLength | Refused {
  const encoding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (encoding !== undefined) {
    if (length !== undefined) return { refused: "both Transfer-Encoding and Content-Length" };
    return encoding.toLowerCase() === "chunked" ? "chunked" : { refused: "unknown transfer coding" };
  }
  if (length === undefined) return "none";
  // A repeated Content-Length was joined by a comma and is refused here too, also where both say the same.
  if (!/^[0-9]{1,9}$/.test(length)) return { refused: "malformed Content-Length" };
  return Number(length) > maximumBody ? { refused: "body too long" } : Number(length);
}
