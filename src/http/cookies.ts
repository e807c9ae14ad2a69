import type { FastifyReply } from "fastify";

/** What of a request tells its cookies. */
export interface Cookies {
  readonly headers: { readonly cookie?: string | undefined };
  /** `https` where the browser came by it: to us, or to a proxy that is trusted. */
  readonly protocol: string;
}

/** Names of our cookies, as a browser has them that came by plain HTTP. */
type CookieName = "waybeam" | "waybeam-browser";

/** How long a browser counts as one from which somebody has signed in: as long as browsers keep a cookie at most. */
const browserSeconds = 34_560_000;

/** The token of the session's cookie. */
export function sessionToken(request: Cookies): string | undefined {
  return cookieOf(request, "waybeam");
}

/** The mark of a browser from which somebody has signed in. */
export function browserMarkIn(request: Cookies): string | undefined {
  return cookieOf(request, "waybeam-browser");
}

/** Sets the session's cookie and the browser's mark. */
export function setSession(
  request: Cookies,
  reply: FastifyReply,
  { token, mark, seconds }: { readonly token: string; readonly mark: string; readonly seconds: number },
): void {
  reply.header("set-cookie", written(request, "waybeam", token, seconds));
  reply.header("set-cookie", written(request, "waybeam-browser", mark, browserSeconds));
}

/** Takes the session's cookie away. The browser's mark stays. */
export function clearSession(request: Cookies, reply: FastifyReply): void {
  reply.header("set-cookie", written(request, "waybeam", "", 0));
}

/** By HTTPS a name that browsers let nobody else set: no other host, no page without TLS (RFC 6265bis, 4.1.3.2). */
function nameOf({ protocol }: Cookies, name: CookieName): string {
  return protocol === "https" ? `__Host-${name}` : name;
}

function written(request: Cookies, name: CookieName, value: string, seconds: number): string {
  const secure = request.protocol === "https" ? "; Secure" : "";
  // Lax, not Strict: the link of an alert's mail must open signed in.
  return `${nameOf(request, name)}=${value}; Max-Age=${seconds}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}

/** The value of a cookie; the first where there are several. */
function cookieOf(request: Cookies, name: CookieName): string | undefined {
  const start = `${nameOf(request, name)}=`;
  for (const each of request.headers.cookie?.split(";") ?? []) {
    const pair = each.trim();
    if (pair.startsWith(start)) return pair.slice(start.length);
  }
  return undefined;
}
