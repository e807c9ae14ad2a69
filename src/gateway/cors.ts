import { type HttpRequest, httpResponse } from "../wire/http.ts";

/** What a page may send beside simple requests: methods and fields of the protocols over HTTP. */
const allowed = {
  "Access-Control-Allow-Methods": "GET, POST",
  "Access-Control-Allow-Headers": "Authorization, Content-Type, X-Limit-U, X-Limit-D",
  "Access-Control-Max-Age": "86400",
};

/**
 * Which web pages may report from a browser, over HTTP (Fetch Standard, CORS protocol). A page of another origin can
 * send, but its browser hides the answer from it, and does not send JSON at all.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  /** `origins`: origins with commas between, or `*` for every page. Empty: none. */
  constructor(origins: string) {
    this.#origins = new Set(origins.split(",").map((origin) => origin.trim()));
  }

  /** The answer to a browser that asks what a page may send; undefined: the request is none, or the page may not. */
  preflight(request: HttpRequest): Uint8Array | undefined {
    const asks = request.method === "OPTIONS" && request.headers.has("access-control-request-method");
    const fields = asks ? this.fields(request) : undefined;
    return fields && httpResponse(204, request.keepAlive, "", { ...fields, ...allowed });
  }

  /**
   * The fields of an answer with which a browser shows it to the page that asked; undefined: the page may not see it.
   */
  fields({ headers }: HttpRequest): Readonly<Record<string, string>> | undefined {
    const origin = headers.get("origin");
    if (origin === undefined) return undefined;
    if (this.#origins.has("*")) return { "Access-Control-Allow-Origin": "*" };
    return this.#origins.has(origin) ? { "Access-Control-Allow-Origin": origin, Vary: "Origin" } : undefined;
  }
}
