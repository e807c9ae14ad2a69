import type { FastifyRequest } from "fastify";
import { isSame } from "../auth/session-token.ts";
import { ApiError } from "../errors/catalogue.ts";
import type { BrowserSession } from "./caller.ts";

/** Methods that change nothing. */
const reading: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Whether a page of another site made this request. Who sends neither header is no page of any site. */
function isForeign({ headers, protocol, host }: FastifyRequest): boolean {
  const site = headers["sec-fetch-site"];
  // Browsers send it to HTTPS and to localhost only.
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  if (headers.origin === undefined) return false;
  return URL.parse(headers.origin)?.host !== URL.parse(`${protocol}://${host}`)?.host;
}

/** Refuses what a page of another site sends in the name of whoever reads it. @throws ApiError `permissionDenied` */
export function refuseForeign(request: FastifyRequest): void {
  if (isForeign(request)) throw new ApiError("permissionDenied", ["the request comes from a page of another site"]);
}

/** Why a request that came by the cookie may not write: a page of another site may have sent it. */
export function forgery(request: FastifyRequest, { csrf }: BrowserSession): ApiError | undefined {
  if (reading.has(request.method)) return undefined;
  if (isForeign(request)) return new ApiError("permissionDenied", ["the request comes from a page of another site"]);
  const sent = request.headers["x-csrf"];
  if (typeof sent === "string" && isSame(sent, csrf)) return undefined;
  return new ApiError("permissionDenied", ["header x-csrf: must be the csrf of GET /api/session"]);
}
